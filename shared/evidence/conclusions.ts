/** One conclusion: the interval against the margin, in the format's fields and in words. Pure. */
import { sameQuestion, settingsOf } from './families.ts';
import type { EvidenceInput, Judged, Metric, Word } from './input.ts';
import { marginOf, type NoPair, type Pair, ratioOf } from './pairs.ts';
import { controlSentence, sentenceOf } from './sentences.ts';

/** What an interval says: faster and slower lie wholly beyond the margin, same wholly within it. All on the pair's scale. */
export const wordOf = (low: number, high: number, margin: number, better: Metric['better']): Word => {
  if (low > margin) return better === 'lower' ? 'slower' : 'faster';
  if (high < -margin) return better === 'lower' ? 'faster' : 'slower';
  return low >= -margin && high <= margin ? 'same' : 'cant-tell';
};

/** Estimate and interval of one comparison on the pair's scale, from rounds or from sessions. */
export interface Found {
  pair: Pair;
  estimate: number;
  low: number;
  high: number;
  p: number;
}

const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** The estimate in the format's fields: a ratio, or for signed metrics a difference. */
const numbersOf = ({ pair, estimate, low, high, p }: Found) => {
  if (!pair.metric.signed) return { ratio: ratioOf(estimate), low: ratioOf(low), high: ratioOf(high), p };
  const unit = pair.metric.unit === undefined ? {} : { unit: pair.metric.unit };
  const difference = { estimate, low: finiteOrNull(low), high: finiteOrNull(high), ...unit };
  return { ratio: null, low: null, high: null, p, difference };
};

const differs = (control: Found): boolean => control.low > 0 || control.high < 0;

/** The control pair of the same question, beside a conclusion. */
const controlOf = (
  found: Found,
  controls: readonly Found[],
  input: EvidenceInput,
): Pick<Judged, 'control'> => {
  const control = controls.find((one) => sameQuestion(one.pair, found.pair));
  if (!control) return {};
  const numbers = numbersOf(control);
  const { ratio, low, high, p } = numbers;
  const { target, metric } = control.pair;
  const sentence = controlSentence({ ...numbers, target, differs: differs(control) }, input, metric);
  return { control: { ratio, low, high, p, differs: differs(control), sentence } };
};

/** What a conclusion rests on, beyond the numbers. */
export type Ground = Pick<Judged, 'rounds' | 'scope' | 'family'> & Partial<Judged>;

/** How far the estimate lies from the margin: beyond it for faster and slower, within it for same. */
export const distanceOf = (found: Found, margin: number): number =>
  Math.abs(Math.abs(found.estimate) - margin);

/** A detectable shift on the pair's scale as a share (signed metrics: of the reference); nothing where none is. */
export const detectableOf = (shift: number, pair: Pair): Pick<Judged, 'detectable'> => {
  const share = pair.metric.signed ? shift / Math.abs(pair.referenceMedian) : Math.expm1(shift);
  return Number.isFinite(share) ? { detectable: share } : {};
};

/** The conclusion about a pair; when any control differs nothing can be told. `settle` stays where more would help. */
export const concluded = (
  input: EvidenceInput,
  found: Found,
  { settle, ...ground }: Ground,
  controls: readonly Found[],
): Judged => {
  const { pair } = found;
  const { margin } = settingsOf(input);
  const untrusted = controls.some(differs);
  const word = wordOf(found.low, found.high, marginOf(pair, margin), pair.metric.better);
  const judged: Judged = {
    candidate: pair.target,
    turns: pair.turns,
    metric: pair.metric.key,
    basis: pair.metric.basis,
    conclusion: untrusted ? 'cant-tell' : word,
    ...numbersOf(found),
    margin,
    ...ground,
    ...(word === 'cant-tell' && !untrusted && settle !== undefined ? { settle } : {}),
    ...controlOf(found, controls, input),
    sentence: '',
  };
  return { ...judged, sentence: sentenceOf(judged, { input, metric: pair.metric, untrusted }) };
};

/** A primary question without an answer: it can't be told either, and says why. */
export const unanswered = (input: EvidenceInput, missing: NoPair, ground: Ground): Judged => {
  const { target, turns, metric, reason } = missing;
  const { margin } = settingsOf(input);
  const judged: Judged = {
    candidate: target,
    turns,
    metric: metric.key,
    basis: metric.basis,
    conclusion: 'cant-tell',
    ratio: null,
    low: null,
    high: null,
    p: null,
    margin,
    ...ground,
    reason,
    sentence: '',
  };
  return { ...judged, sentence: sentenceOf(judged, { input, metric, untrusted: false }) };
};
