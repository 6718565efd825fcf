/** Names of sessions, short. Pure. */

/** Names of so many characters need no cutting. */
const SHORT = 16;

/**
 * What is left of the names once their common beginning is gone, whole words only: sessions of a run differ at their ends,
 * `…-n1` and `…-n2` are n1 and n2. A single name, and names that are short already, stay as they are.
 */
export const shortNames = (names: readonly string[]): Map<string, string> => {
  const [first = ''] = names;
  if (names.every((one) => one.length <= SHORT)) return new Map(names.map((one) => [one, one]));
  let common = names.length > 1 ? first.length : 0;
  for (const name of names) while (!name.startsWith(first.slice(0, common))) common--;
  const cut = first.slice(0, common).lastIndexOf('-') + 1;
  return new Map(names.map((name) => [name, name.slice(cut) || name]));
};
