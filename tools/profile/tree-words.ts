/**
 * Words of a sample command that belong to one commit's tree. `./x` at the start of a word and `{worktree}` anywhere in it
 * name the tree; every other path is relative to the current directory, the same for both commits. Pure.
 */

const PLACE = '{worktree}';

/** A word with its place in the tree filled in; other words as they are. `tree` is an absolute path. */
const placed = (word: string, tree: string): string =>
  (word.startsWith('./') ? `${tree}/${word.slice(2)}` : word).replaceAll(PLACE, tree);

export const namesTree = (word: string): boolean => word.startsWith('./') || word.includes(PLACE);

/** The command as it runs for one commit. */
export const inTree = (words: readonly string[], tree: string): string[] =>
  words.map((word) => placed(word, tree));

/**
 * Words that would silently measure the same file twice: they name a file of the tree and are not taken from it. `isFile`
 * answers for a path relative to the tree. The first word is looked up on the PATH when it has no `/`.
 */
export const ambiguousWords = (words: readonly string[], isFile: (relative: string) => boolean): string[] =>
  words.filter(
    (word, at) =>
      word !== '' &&
      !namesTree(word) &&
      !word.startsWith('/') &&
      !word.startsWith('-') &&
      !word.split('/').includes('..') &&
      (at > 0 || word.includes('/')) &&
      isFile(word),
  );
