/** How a checkout differs from a lock, one sentence each. Pure. */
import type { LockedTask, TasksLock } from '../../../schemas/tasks-lock.ts';
import type { Checkout, FoundTask } from './checkout.ts';

/** Files told by name; a changed task may have hundreds. */
const TOLD = 5;

const fileDifferences = (name: string, locked: LockedTask['files'], found: LockedTask['files']): string[] => {
  const paths = [...new Set([...Object.keys(locked), ...Object.keys(found)])].toSorted();
  const all = paths.flatMap((path) => {
    const [a, b] = [locked[path], found[path]];
    if (a === undefined) return [`'${name}/${path}' is not locked`];
    if (b === undefined) return [`'${name}/${path}' is locked and not there`];
    if (a.sha256 !== b.sha256) return [`'${name}/${path}' has another content than the locked one`];
    return a.x === b.x
      ? []
      : [
          `'${name}/${path}' is ${b.x ? 'executable, the locked one is not' : 'not executable, the locked one is'}`,
        ];
  });
  return all.length > TOLD
    ? [...all.slice(0, TOLD), `'${name}': ${all.length - TOLD} more files differ`]
    : all;
};

const factDifferences = (locked: LockedTask, { name, facts }: FoundTask): string[] =>
  locked.tag === facts.image ? [] : [`'${name}' names the image '${facts.image}', locked is '${locked.tag}'`];

/** `only`: tasks that are asked about. */
export const differencesOf = (
  lock: TasksLock,
  checkout: Pick<Checkout, 'commit' | 'tasks' | 'leftOut'>,
  only?: readonly string[],
): string[] => {
  const found = new Map(checkout.tasks.map((one) => [one.name, one]));
  const locked = lock.tasks.filter((one) => only?.includes(one.name) ?? true);
  const left = new Map(checkout.leftOut.map((one) => [one.name, one.reason]));
  return [
    ...(lock.dataset.commit === checkout.commit
      ? []
      : [`the checkout is at commit ${checkout.commit}, locked is ${lock.dataset.commit}`]),
    ...locked.flatMap((task) => {
      const other = found.get(task.name);
      if (other)
        return [...fileDifferences(task.name, task.files, other.files), ...factDifferences(task, other)];
      const reason = left.get(task.name);
      return [
        `'${task.name}' is locked and ${reason === undefined ? 'not there' : `can't be locked any more: ${reason}`}`,
      ];
    }),
    ...checkout.tasks
      .filter((one) => !locked.some((task) => task.name === one.name))
      .map((one) => `'${one.name}' is not locked`),
  ];
};
