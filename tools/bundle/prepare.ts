/** Before anything is built: the recipe read, the source tree opened, every toolchain and lockfile looked at; all problems at once. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  type Arch,
  type Artifact,
  clashes,
  type Recipe,
  recipe as recipeSchema,
} from '../../schemas/recipe.ts';
import { Failure, usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { check, readText } from '../../shared/read.ts';
import type { World } from '../../shared/world.ts';
import { parseYaml } from '../../shared/yaml.ts';
import type { Asked, Prepared } from './kind.ts';
import { kindOf } from './kinds.ts';
import { digestOf, openSource } from './source.ts';

/** One artifact, ready to be built. */
export interface Ready {
  artifact: Artifact;
  name: string;
  /** Digest of everything that determines its bytes. */
  key: string;
  /** Digest of its sources; absent: none. */
  sources?: string;
  prepared: Prepared;
}

export interface Job {
  recipe: Recipe;
  recipeSha256: string;
  asked: Asked;
  artifacts: Ready[];
}

export interface Wanted {
  recipe: string;
  /** Where the bundle goes, absolute. */
  out: string;
  arch: Arch;
  archives?: string;
  allowDirty: boolean;
  /** What `--agents` adds is wanted, too. */
  agents: boolean;
  /** Further agents of the lock. */
  arms: readonly string[];
  pythonArchive?: string;
  tinygo?: string;
}

/** Changes when an artifact of the same inputs becomes other bytes, because how it is built changed here. */
const METHOD = 2;

const ready = async (artifact: Artifact, asked: Asked): Promise<Ready> => {
  const kind = kindOf(artifact);
  const prepared = await kind.prepare(artifact, asked);
  const sources = prepared.files.length === 0 ? undefined : await digestOf(asked.source.top, prepared.files);
  const { toolchains, pins } = prepared;
  return {
    artifact,
    name: kind.name(artifact),
    key: sha256(JSON.stringify([METHOD, asked.arch, artifact, toolchains, pins, sources ?? null])),
    ...(sources === undefined ? {} : { sources }),
    prepared,
  };
};

/** The recipe's artifacts, and with `agents` those that it keeps for that. */
const wantedArtifacts = ({ artifacts, agents }: Recipe, wanted: Wanted): Artifact[] => {
  if (!wanted.agents) return artifacts;
  if (!agents)
    throw usage(
      `flag '--agents': '${wanted.recipe}' has no 'agents:' that says which; name there the arms.lock, the agents, and the Python that drives them`,
    );
  if (wanted.pythonArchive !== undefined && !agents.python)
    throw usage(`flag '--python-archive': '${wanted.recipe}' pins no Python (agents.python)`);
  const { lock, arms, python } = agents;
  const all: Artifact[] = [
    ...artifacts,
    ...(python ? [{ kind: 'python' as const, ...python }] : []),
    ...[...new Set([...arms, ...wanted.arms])].map((id) => ({ kind: 'arm' as const, id, lock })),
  ];
  const twice = clashes(all);
  if (twice.length > 0) throw usage(twice.map((one) => `${wanted.recipe}: ${one}`));
  return all;
};

/** Reads a recipe and looks at all it needs. */
export const prepareJob = async (wanted: Wanted, world: World): Promise<Job> => {
  const path = resolve(world.cwd, wanted.recipe);
  if (!existsSync(path)) throw usage(`recipe '${wanted.recipe}' does not exist`);
  const text = readText(path, wanted.recipe);
  const read = check(recipeSchema, parseYaml(text, wanted.recipe), wanted.recipe, usage);
  const recipe: Recipe = { ...read, artifacts: wantedArtifacts(read, wanted) };
  const source = openSource(dirname(path), wanted.recipe, world.env, wanted.allowDirty, wanted.out);
  const asked: Asked = {
    arch: wanted.arch,
    source,
    world,
    ...(wanted.archives === undefined ? {} : { archives: wanted.archives }),
    ...(wanted.pythonArchive === undefined ? {} : { pythonArchive: wanted.pythonArchive }),
    ...(wanted.tinygo === undefined ? {} : { tinygo: wanted.tinygo }),
  };
  const artifacts: Ready[] = [];
  const problems = new Set<string>();
  // Side by side: most of it is waiting for programs that say their version.
  const looked = await Promise.allSettled(recipe.artifacts.map((artifact) => ready(artifact, asked)));
  for (const [at, one] of looked.entries())
    if (one.status === 'fulfilled') {
      for (const problem of one.value.prepared.problems) problems.add(`${one.value.name}: ${problem}`);
      artifacts.push(one.value);
    } else {
      if (!(one.reason instanceof Failure)) throw one.reason;
      const artifact = recipe.artifacts[at]!;
      for (const problem of one.reason.problems)
        problems.add(`${kindOf(artifact).name(artifact)}: ${problem}`);
    }
  if (problems.size > 0) throw usage([...problems]);
  return { recipe, recipeSha256: sha256(text), asked, artifacts };
};
