/** `--fail-on`: which conclusions end with exit 4. From conclusions alone, never from the tracker's verdicts. Pure. */
import type { Conclusion, FailOn } from '../../schemas/analysis.ts';
import { failOn } from '../../schemas/analysis.ts';
import type { Read } from '../../shared/flags.ts';

const HOLDS: Readonly<Record<FailOn, (word: Conclusion['conclusion']) => boolean>> = {
  slower: (word) => word === 'slower',
  'not-faster': (word) => word !== 'faster',
  'cant-tell': (word) => word === 'cant-tell',
};

/** One word of the flag's list. */
export const readFailOn = (given: string): Read<FailOn> =>
  failOn.options.includes(given as FailOn)
    ? { ok: true, value: given as FailOn }
    : { ok: false, expected: failOn.options.join(', ') };

/** Conclusions that any of the words is about. */
export const badOf = <T extends Pick<Conclusion, 'conclusion'>>(
  conclusions: readonly T[],
  words: readonly FailOn[] = [],
): T[] => conclusions.filter(({ conclusion }) => words.some((one) => HOLDS[one](conclusion)));
