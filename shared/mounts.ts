/** What is mounted where, from `/proc/self/mountinfo`. */
import type { Machine } from './machine.ts';

/** mountinfo writes blanks and the like in paths as octal escapes. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** One line of `/proc/self/mountinfo` (proc(5)); `source` is the device. */
export interface MountLine {
  device: string;
  root: string;
  point: string;
  type: string;
  source: string;
  options: string[];
}

export const mountLines = (mountinfo: string): MountLine[] =>
  mountinfo.split('\n').flatMap((line) => {
    const [before, after] = line.split(' - ');
    const fields = (before ?? '').split(' ');
    const [type, source, options] = (after ?? '').split(' ');
    return type === undefined || fields[4] === undefined || after === undefined
      ? []
      : [
          {
            device: fields[2]!,
            root: unescaped(fields[3]!),
            point: unescaped(fields[4]),
            type,
            source: unescaped(source ?? ''),
            options: (options ?? '').split(','),
          },
        ];
  });

/** Where a directory lies: kind of file system, its device and mount point. */
export interface Mounted {
  filesystem: string;
  device: string;
  mount: string;
}

/** The mount that a directory (absolute, without links) lies on; absent when the machine doesn't say. */
export const mountOf = (machine: Machine, directory: string): Mounted | undefined => {
  const on = mountLines(machine.read('/proc/self/mountinfo') ?? '')
    .filter(({ point }) => point === '/' || directory === point || directory.startsWith(`${point}/`))
    // Of mounts over each other the last one counts.
    .reduce<MountLine | undefined>(
      (best, one) => (best && best.point.length > one.point.length ? best : one),
      undefined,
    );
  return on && { filesystem: on.type, device: `${on.source} (${on.device})`, mount: on.point };
};
