/** `k8sbench tasks-lock`: `trials lock` under its older name. */
import { defineTool } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { lockFlags, lockOut, lockTasks } from './flags.ts';
import { lock } from './lock.ts';

/** What a flag says without the verb that it belongs to. */
const alone = <F extends Record<string, { about: string }>>(flags: F): F =>
  Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      { ...flag, about: flag.about.replace(/^lock: /, '') },
    ]),
  ) as F;

export const tasksLock = defineTool({
  name: 'tasks-lock',
  about: lock.about,
  flags: { ...alone(lockFlags), ...alone(lockOut), ...lockTasks },
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  run: (call) => lock.run(call),
});
