import { mountLines } from './cgroup.ts';
import type { Machine } from './machine.ts';

/** Where the fixtures lie: kind of file system, its device and mount point. */
export interface FixturePlace {
  filesystem: string;
  device: string;
  mount: string;
}

/** The mount that a directory (absolute, without links) lies on; absent when the machine doesn't say. */
export const fixturePlace = (machine: Machine, directory: string): FixturePlace | undefined => {
  const on = mountLines(machine.read('/proc/self/mountinfo') ?? '')
    .filter(({ point }) => point === '/' || directory === point || directory.startsWith(`${point}/`))
    // Of mounts over each other the last one counts.
    .reduce<ReturnType<typeof mountLines>[number] | undefined>(
      (best, one) => (best && best.point.length > one.point.length ? best : one),
      undefined,
    );
  return on && { filesystem: on.type, device: `${on.source} (${on.device})`, mount: on.point };
};
