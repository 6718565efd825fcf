/** A model's files in a directory, by size and digest. */
import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../../schemas/models-lock.ts';
import { cause, failed, usage } from '../../../shared/failure.ts';
import { treeOf } from '../../../shared/tree-digest.ts';

/** Notes of the hub's own client and of git, which are no part of a model. */
const NOTES = /^(\.git|\.cache)(\/|$)/;

/** Every file below `directory`; links, as the hub's cache has them, are refused. */
export const filesIn = async (directory: string, shown: string): Promise<Model['files']> => {
  if (!lstatSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw usage(`flag '--dir': '${shown}' is no directory`);
  try {
    return Object.fromEntries(
      treeOf(directory)
        .filter((one) => !NOTES.test(one.path))
        .map(({ path, sha256 }) => [path, { size: statSync(join(directory, path)).size, sha256 }]),
    );
  } catch (error) {
    throw failed(
      `'${shown}': ${cause(error)}; 'huggingface-cli download --local-dir' makes one of plain files`,
    );
  }
};
