/** The longest a timer can wait, ms; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Does something after so many seconds; the returned function calls it off. */
export const afterSeconds = (seconds: number, act: () => void): (() => void) => {
  const timer = setTimeout(act, Math.min(seconds * 1000, LONGEST_MS));
  return () => clearTimeout(timer);
};
