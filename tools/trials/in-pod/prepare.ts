/** Copies what a trial runs with from the claim to the pod's own volume: the trial's container never mounts the claim. */
import { chmodSync, constants, copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

export interface PrepareSpec {
  staged: string;
  task: string;
  arm: string;
}

/** `bundle`: the staged bundle; `runtime`: an empty directory. */
export const prepare = ({ task, arm }: PrepareSpec, bundle: string, runtime: string): void => {
  const copy = (from: string, to: string, mode: number): void => {
    const path = join(bundle, from);
    if (!existsSync(path))
      throw new Error(
        `the staged bundle has no '${from}'; build it with 'bundle build --tasks', and stage it`,
      );
    copyFileSync(path, join(runtime, to), constants.COPYFILE_FICLONE);
    chmodSync(join(runtime, to), mode);
  };
  mkdirSync(join(runtime, 'bin'));
  copy('bin/node', 'bin/node', 0o755);
  // Nobody else may read it: a process of a program that it can't read can be traced by nobody (ptrace(2), dumpable).
  copy('bin/node', 'bin/keeper', 0o711);
  copy('lib/trials.mjs', 'trials.mjs', 0o644);
  copy(`tasks/${task}/instruction.md`, 'instruction.md', 0o644);
  const from = join(bundle, 'arms', arm);
  if (!existsSync(from)) throw new Error(`the staged bundle has no arm '${arm}'`);
  cpSync(from, join(runtime, 'arm'), { recursive: true, verbatimSymlinks: true });
};
