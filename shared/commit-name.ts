/** Commits as people and artifacts name them: hex digits, `-dirty` behind those of a changed tree. Pure. */

const COMMIT = /^([0-9a-f]{7,64})(-dirty)?$/;

/** The commit that a text names; undefined when it names none. */
export const commitNamed = (text: string): string | undefined => COMMIT.exec(text.trim())?.[0];

/** Whether a commit is the one that is wanted: a prefix of at least 7 digits matches, `-dirty` must agree. */
export const commitFits = (wanted: string, commit: string): boolean => {
  const [asked, found] = [COMMIT.exec(wanted), COMMIT.exec(commit)];
  return asked !== null && found !== null && found[1]!.startsWith(asked[1]!) && asked[2] === found[2];
};
