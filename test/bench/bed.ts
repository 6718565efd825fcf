/** What the rows have in common: a directory of their own, our programs as their users start them, how often to repeat. */
import { join, resolve } from 'node:path';
import { buildBinary } from '../install/binary.ts';

const root = resolve(import.meta.dir, '../..');

export interface Bed {
  /** An empty directory that is removed afterwards. */
  directory: string;
  repetitions: number;
  /** Says what is under way. */
  say(text: string): void;
}

/** A tool from source. */
export const tool = (name: string): string[] => [process.execPath, join(root, 'tools', name, 'main.ts')];

/** A file of the source tree. */
export const inTree = (path: string): string => join(root, path);

let binary: Promise<string> | undefined;

/** The compiled binary, built once. */
export const compiled = ({ directory }: Bed): Promise<string> => {
  const path = join(directory, 'k8sbench');
  return (binary ??= buildBinary(path).then(() => path));
};
