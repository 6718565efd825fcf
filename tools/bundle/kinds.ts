/** The kinds of artifacts. A new one is a module, a schema and a row. */
import type { Artifact } from '../../schemas/recipe.ts';
import type { Kind } from './kind.ts';
import { arm } from './kinds/arm.ts';
import { bun } from './kinds/bun.ts';
import { cargo } from './kinds/cargo.ts';
import { files } from './kinds/files.ts';
import { go } from './kinds/go.ts';
import { node } from './kinds/node.ts';
import { npm } from './kinds/npm.ts';
import { python } from './kinds/python.ts';
import { release } from './kinds/release.ts';
import { tinygo } from './kinds/tinygo.ts';

const KINDS: { [K in Artifact['kind']]: Kind<K> } = {
  arm,
  files,
  go,
  tinygo,
  cargo,
  bun,
  npm,
  release,
  node,
  python,
};

export const kindOf = (artifact: Artifact): Kind<Artifact['kind']> =>
  KINDS[artifact.kind] as unknown as Kind<Artifact['kind']>;
