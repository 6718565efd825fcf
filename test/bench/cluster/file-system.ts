/**
 * A file system for the nodes, as nodes have it: ext4 with a journal, in a file. Where /tmp is ext4 without one, the kernel
 * passes over every file that was deleted in the last minute whenever one is made (`recently_deleted`, fs/ext4/ialloc.c):
 * unpacking after the pod before was removed then takes ten times as long, for every contestant.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../cluster/kube-binary.ts';

const GIGABYTES = 12;

/** Makes it below `place`, after removing what an earlier one left there; gives where it is mounted. */
export const mountFileSystem = (place: string): string => {
  unmountFileSystem(place);
  const [image, mounted] = [join(place, 'image'), join(place, 'mounted')];
  mkdirSync(mounted, { recursive: true });
  run(['truncate', '-s', `${GIGABYTES}G`, image]);
  run(['mkfs.ext4', '-q', '-F', image]);
  run(['mount', '-o', 'loop', image, mounted]);
  return mounted;
};

/** Takes it away; safe to call when there is none. */
export const unmountFileSystem = (place: string): void => {
  run(['umount', join(place, 'mounted')], { allowFailure: true });
  rmSync(place, { recursive: true, force: true });
};
