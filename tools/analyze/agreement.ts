/** The tracker's verdict beside a conclusion, and why the two differ where they do (DESIGN §5: two layers, never mixed). Pure. */
import type { Comparison, Conclusion, Verdict } from '../../schemas/analysis.ts';
import { atSize, type Counted } from '../../shared/sizes.ts';
import { trackerKey } from '../../shared/verdict.ts';
import { percent } from '../../shared/percent.ts';

/** Which way a verdict points, in the evidence's words. */
const MEANS: Readonly<Record<Verdict, 'faster' | 'slower' | 'same'>> = {
  lose: 'slower',
  win: 'faster',
  'slightly better': 'faster',
  tie: 'same',
};

/** The tracker ties what is within this share (spec §7). */
const TIE = 0.03;

const because = ({ conclusion, margin, underpowered, rounds }: Conclusion, verdict: Verdict): string => {
  if (conclusion === 'cant-tell' && underpowered)
    return `its rule compares two medians by fixed limits; ${rounds} rounds are too few to tell any difference from noise`;
  if (conclusion === 'cant-tell')
    return 'its rule compares two medians by fixed limits and asks nothing about noise, which leaves the question open here';
  if (conclusion === 'same')
    return `its medians, of all turns, lie more than ${percent(TIE)} apart; paired round by round the difference stays within the margin of ${percent(margin)}`;
  if (verdict !== 'tie')
    return 'medians of all turns point the other way than the rounds, paired one by one; look at the single samples';
  return margin < TIE
    ? `it ties everything within ${percent(TIE)}, and the margin asked for is ${percent(margin)}`
    : `its medians, of all turns, lie within ${percent(TIE)}; paired round by round the difference is larger`;
};

/** A conclusion with the verdict of the same numbers, and one sentence where they disagree. Not knowing and a tie do not. */
export const besideVerdict = (
  conclusion: Conclusion,
  comparisons: readonly Comparison[],
  counted: Counted = {},
): Conclusion => {
  const { candidate, turns, metric } = conclusion;
  const comparison = comparisons.find((one) => one.candidate === candidate && one.turns === turns);
  const verdict = comparison?.verdicts[trackerKey(metric)];
  if (verdict === undefined) return conclusion;
  const agree =
    conclusion.conclusion === MEANS[verdict] || (conclusion.conclusion === 'cant-tell' && verdict === 'tie');
  return agree
    ? { ...conclusion, verdict }
    : {
        ...conclusion,
        verdict,
        disagreement: `the tracker says '${verdict}' on ${metric} of ${candidate} ${atSize(turns, counted)}: ${because(conclusion, verdict)}`,
      };
};
