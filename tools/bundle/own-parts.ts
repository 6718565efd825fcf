/** What every bundle carries of k8sbench itself: the session as one file, and the built-in workloads. */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failed } from '../../shared/failure.ts';
import { inTree } from '../../shared/own-files.ts';
import { packagesOfWorkloads, workloadsRoot } from '../../shared/workloads-place.ts';
import type { World } from '../../shared/world.ts';

/** Node takes the workloads' files for modules wherever the bundle lies. */
const MODULES = '{"type":"module"}\n';

/** Writes lib/pod.mjs, lib/package.json and, when wanted, the workloads below `out`. */
export const writeOwnParts = (out: string, workloads: boolean, world: World): void => {
  const root = workloadsRoot(world.env);
  mkdirSync(join(out, 'lib'), { recursive: true });
  if (workloads) {
    cpSync(join(root, 'lib'), join(out, 'lib'), { recursive: true, dereference: false });
    for (const [path, from] of Object.entries(packagesOfWorkloads()))
      if (!existsSync(join(out, path))) {
        mkdirSync(dirname(join(out, path)), { recursive: true });
        cpSync(from, join(out, path));
      }
  }
  writeFileSync(join(out, 'lib/package.json'), MODULES);
  writeSession(root, join(out, 'lib/pod.mjs'));
  // A runtime is started with each of them. A compiled k8sbench carries no modes, so these must not depend on them.
  for (const one of readdirSync(out, { recursive: true, withFileTypes: true }))
    if (one.isFile()) chmodSync(join(one.parentPath, one.name), 0o644);
};

const writeSession = (root: string, session: string): void => {
  if (existsSync(join(root, 'lib/pod.mjs'))) return cpSync(join(root, 'lib/pod.mjs'), session);
  const made = Bun.spawnSync([process.execPath, inTree('tools/pod/bundle.ts'), session], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  if (made.exitCode !== 0) throw failed(`can't make pod.mjs: ${made.stderr.toString().trim()}`);
};
