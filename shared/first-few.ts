/** Lists that may be longer than anybody reads. */

/** More sentences would not be read. */
const MOST = 10;

/** The first of some sentences, and how many more there are. */
export const firstFew = (sentences: readonly string[], most = MOST): string[] =>
  sentences.length <= most
    ? [...sentences]
    : [...sentences.slice(0, most), `and ${sentences.length - most} more`];
