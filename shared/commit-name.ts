/** Commits as people and artifacts name them: hex digits, `-dirty` behind those of a changed tree. Pure. */

const COMMIT = /^([0-9a-f]{7,64})(-dirty)?$/;

/** The commit that a text names; undefined when it names none. */
export const commitNamed = (text: string): string | undefined => COMMIT.exec(text.trim())?.[0];

/** What is wrong with a text that is to name a commit, `from` says where it stands; undefined: nothing. */
export const commitProblem = (text: string, from: string): string | undefined =>
  commitNamed(text) === undefined
    ? `${from}: expected a commit of 7 to 64 hex digits, '-dirty' behind it when files were changed, found '${text.trim().slice(0, 80)}'`
    : undefined;

/** Whether a commit is the one that is wanted: a prefix of at least 7 digits matches, `-dirty` must agree. */
export const commitFits = (wanted: string, commit: string): boolean => {
  const [asked, found] = [COMMIT.exec(wanted), COMMIT.exec(commit)];
  return asked !== null && found !== null && found[1]!.startsWith(asked[1]!) && asked[2] === found[2];
};
