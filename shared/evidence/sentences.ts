/** The sentences that a person would quote. All words about conclusions are made here. Pure. */
import { atSize } from '../sizes.ts';
import { DEFAULTS, type EvidenceInput, type Judged, type Metric, type Shown } from './input.ts';
import { pText } from '../p-value.ts';
import { percent } from '../percent.ts';

const BASIS = { wall: 'wall', cpu: 'CPU', count: 'count' } as const;

/** A change this large reads better as a factor. */
const FACTOR = 1.5;

/** Shares below this are the arithmetic's own. */
const NOTHING = 1e-5;

const digits = (value: number): string => {
  const size = Math.abs(value);
  return size >= 100 ? size.toFixed(0) : size >= 0.1 || size === 0 ? size.toFixed(1) : size.toPrecision(1);
};

/** Words of the two directions: time and rates are faster or slower, other counts lower or higher. */
const directions = (metric: Metric): { up: string; down: string } => {
  if (metric.basis === 'count' && metric.better === 'lower') return { up: 'higher', down: 'lower' };
  return metric.better === 'lower' ? { up: 'slower', down: 'faster' } : { up: 'faster', down: 'slower' };
};

/** A number of a sentence, `3.2 %` or `2.1×`, and which way it goes. */
interface Change {
  text: string;
  up: boolean;
}

const factorOf = (ratio: number): number => Math.max(ratio, 1 / ratio);

/** A ratio of 0.959 is 4.1 % less; one of 0.5 twice as fast. An interval is told as its estimate is. */
const changeOf = (ratio: number, inFactors: boolean): Change => {
  const factor = factorOf(ratio);
  const text = inFactors
    ? `${factor < 1.1 ? factor.toFixed(2) : digits(factor)}×`
    : `${digits(Math.abs(ratio - 1) < NOTHING ? 0 : 100 * (ratio - 1))} %`;
  return { text, up: ratio >= 1 };
};

/** An estimate and the ends of its interval; null where the rounds can't bound it. */
interface Numbers {
  value: Change;
  low: Change | null;
  high: Change | null;
}

const numbersOf = ({
  difference,
  ratio,
  low,
  high,
}: Pick<Judged, 'difference' | 'ratio' | 'low' | 'high'>): Numbers => {
  const unit = difference?.unit === undefined ? '' : ` ${difference.unit}`;
  const inFactors = !difference && factorOf(ratio!) >= FACTOR;
  const show = (one: number): Change =>
    difference ? { text: `${digits(one)}${unit}`, up: one >= 0 } : changeOf(one, inFactors);
  const [value, from, to] = difference
    ? [difference.estimate, difference.low, difference.high]
    : [ratio!, low, high];
  return { value: show(value), low: from === null ? null : show(from), high: to === null ? null : show(to) };
};

/** `95 %: 3.2–5.0 %`, or `95 %: 1.0 % faster to 0.6 % slower` where the ends point different ways; the smaller end first. */
const range = (
  { value, low, high }: Numbers,
  words: { up: string; down: string },
  { level = DEFAULTS.level }: EvidenceInput,
): string => {
  const confidence = percent(1 - level);
  if (!low || !high) return `no ${confidence} interval`;
  const word = (one: { up: boolean }): string => (one.up ? words.up : words.down);
  if (low.up !== high.up || low.up !== value.up)
    return `${confidence}: ${low.text} ${word(low)} to ${high.text} ${word(high)}`;
  const [near, far] = low.up ? [low, high] : [high, low];
  const unit = /[ ×].*$/.exec(far.text)?.[0] ?? '';
  const shared = near.text.endsWith(unit) && unit !== '';
  return `${confidence}: ${shared ? near.text.slice(0, -unit.length) : near.text}–${far.text}`;
};

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

const sessionText = (session: string | undefined): string =>
  session === undefined ? 'this session' : `session '${session}'`;

const scopeText = (judged: Judged): string =>
  judged.scope === 'sessions' ? plural(judged.sessions!, 'session') : sessionText(judged.session);

/** Which of several questions this is: the metric unless it is the only one, the size likewise. */
const about = (judged: Pick<Judged, 'metric' | 'turns'>, input: EvidenceInput): string => {
  const metric = input.metrics.filter((one) => one.primary).length > 1 ? ` on ${judged.metric}` : '';
  return input.turns.length > 1 ? `${metric} ${atSize(judged.turns, input)}` : metric;
};

/** What would settle it: nothing to say where it is unknown. */
const settleText = ({ settle = {}, scope }: Judged): string | undefined => {
  const { rounds, sessions } = settle;
  const moreSessions = sessions === undefined ? undefined : `about ${plural(sessions, 'more session')}`;
  if (rounds !== undefined) {
    const moreRounds = `about ${plural(rounds, 'more round')} would settle it`;
    return moreSessions === undefined
      ? moreRounds
      : `${moreRounds} for this session, ${moreSessions} for the program`;
  }
  return moreSessions && `${moreSessions} would settle it${scope === 'session' ? ' for the program' : ''}`;
};

const why = (judged: Judged, untrusted: boolean): string => {
  if (untrusted) return '; the control pair, the same program twice, differs in this run';
  const { underpowered, smallestP, rounds, scope } = judged;
  const settled = settleText(judged);
  if (underpowered) {
    const least =
      smallestP === undefined ? '' : `: ${plural(rounds, 'round')} can't go below ${pText(smallestP)}`;
    return ` (underpowered${least})${settled === undefined ? '' : `; ${settled}`}`;
  }
  return `; ${settled ?? `more ${scope === 'session' ? 'rounds' : 'sessions'} will hardly settle it`}`;
};

/** The sentence of one conclusion; everything but `sentence` is filled in. */
export const sentenceOf = (
  judged: Judged,
  { input, metric, untrusted }: { input: EvidenceInput; metric: Metric; untrusted: boolean },
): string => {
  if (judged.reason !== undefined)
    return `can't tell${about(judged, input)} for ${judged.candidate}: ${judged.reason}`;
  const words = directions(metric);
  const found = numbersOf(judged);
  const word = found.value.up ? words.up : words.down;
  const facts = [
    range(found, words, input),
    BASIS[judged.basis],
    scopeText(judged),
    plural(judged.rounds, 'round'),
    pText(judged.p!),
    ...(judged.family > 1 ? [`${judged.family} comparisons`] : []),
  ].join(', ');
  const subject = judged.candidate;
  switch (judged.conclusion) {
    case 'faster':
    case 'slower':
      return `${subject} is ${found.value.text} ${word}${about(judged, input)} (${facts})`;
    case 'same':
      return `${subject} is the same as ${input.reference} within ${percent(judged.margin)}${about(judged, input)}: ${found.value.text} ${word} (${facts})`;
    default:
      return `can't tell${about(judged, input)}: ${subject} looks ${found.value.text} ${word} (${facts})${why(judged, untrusted)}`;
  }
};

/** What a difference of nothing looked like in the same rounds. */
export const controlSentence = (
  control: Pick<Judged, 'difference' | 'ratio' | 'low' | 'high'> & { target: string; differs: boolean },
  input: EvidenceInput,
  metric: Metric,
): string => {
  const words = directions(metric);
  const found = numbersOf(control);
  const word = found.value.up ? words.up : words.down;
  return `${control.target}, the same program as ${input.reference}, ${control.differs ? 'is' : 'looks'} ${found.value.text} ${word} (${range(found, words, input)})`;
};

/** The sentence of a metric that is shown; everything but `sentence` is filled in: numbers alone, by themselves, without a judgement. */
export const shownSentence = (shown: Shown, input: EvidenceInput, metric: Metric): string => {
  const words = directions(metric);
  const found = numbersOf(shown);
  const facts = [
    range(found, words, input),
    BASIS[shown.basis],
    sessionText(input.sessions.length > 1 ? shown.session : undefined),
    plural(shown.rounds, 'round'),
  ].join(', ');
  const size = input.turns.length > 1 ? ` ${atSize(shown.turns, input)}` : '';
  return `${shown.candidate} measures ${found.value.text} ${found.value.up ? words.up : words.down} on ${shown.metric}${size} (${facts}), not a primary metric`;
};
