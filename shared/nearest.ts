/** What a mistyped name was meant to be. Pure. */

/** Edit distance of two words (Levenshtein). */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length]!;
};

/** The known name that a typo is nearest to, when it is near enough to be meant. */
export const nearest = (name: string, known: readonly string[]): string | undefined => {
  const ranked = known.map((one) => [distance(name, one), one] as const).toSorted((a, b) => a[0] - b[0]);
  return ranked[0] && ranked[0][0] <= Math.max(1, Math.floor(name.length / 3)) ? ranked[0][1] : undefined;
};
