/** files: a file or a directory of the source tree, as it is. */
import { copySource } from '../source.ts';
import { type Kind, nothing } from '../kind.ts';
import { join } from 'node:path';

export const files: Kind<'files'> = {
  name: ({ to }) => `files ${to}`,
  prepare: async ({ from }, { source }) => ({ ...nothing(), files: source.below([from]) }),
  async build({ from, to }, { source }, { sources, out }) {
    const found = source.below([from]);
    const isOne = found.length === 1 && found[0]!.path === from;
    copySource(sources, found, join(out, to), from === '.' ? '' : isOne ? from : `${from}/`);
  },
};
