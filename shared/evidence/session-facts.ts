/** One session's samples arranged for the doubts: log-values, differences, order and readings by round. Pure. */
import { DEFAULTS, type EvidenceInput, type Metric, type Reading, type Session } from './input.ts';
import { familyOf, isPrimary } from './families.ts';
import { isPair, type Pair } from './pairs.ts';
import type { Grouped } from './permuting-rounds.ts';

/**
 * A plan has no more rounds. Logs of other makers may; what is only shown, and doubts that need thousands of orders of the
 * rounds, would take longer there than all the rest.
 */
export const MOST_ROUNDS = 10_000;

/** A target's values of one primary metric and size on the scale of its pair: ln, or as they are where signed; NaN where absent. */
export interface Track {
  target: string;
  turns: number;
  metric: Metric;
  values: Float64Array;
}

export interface SessionFacts {
  session: Session;
  rounds: number;
  /** Primary comparisons, the control's included. */
  readonly pairs: Pair[];
  tracks: Track[];
  /** Readings by target, size and round. */
  readingOf: (target: string, turns: number, round: number) => Reading | undefined;
}

const tracksOf = (input: EvidenceInput, session: Session): Track[] => {
  const targets = new Set([
    input.reference,
    ...input.candidates,
    ...(input.control === undefined ? [] : [input.control]),
  ]);
  const primary = new Map(input.metrics.filter((one) => one.primary).map((one) => [one.key, one]));
  return session.series.flatMap(({ target, turns, metric: key, values }) => {
    const metric = primary.get(key);
    if (!metric || !targets.has(target)) return [];
    const scaled = new Float64Array(values.length).fill(NaN);
    for (const [at, one] of values.entries())
      if (one !== null && metric.signed) scaled[at] = one;
      else if (one !== null && one > 0) scaled[at] = Math.log(one);
    return [{ target, turns, metric, values: scaled }];
  });
};

export const factsOf = (input: EvidenceInput, session: Session): SessionFacts => {
  const all = [...input.candidates, ...(input.control === undefined ? [] : [input.control])];
  let pairs: Pair[] | undefined;
  const tracks = tracksOf(input, session);
  // These are made when they are asked for: a session of very many rounds is asked for neither.
  let byPlace: Map<string, Reading> | undefined;
  const placed = (): Map<string, Reading> =>
    (byPlace ??= new Map(
      Iterator.from(session.readings ?? []).map((one) => [`${one.round} ${one.turns} ${one.target}`, one]),
    ));
  return {
    session,
    rounds: Math.max(0, ...tracks.map((one) => one.values.length)),
    get pairs() {
      return (pairs ??= familyOf(input, session, all, isPrimary).filter(isPair));
    },
    tracks,
    readingOf: (target, turns, round) => placed().get(`${round} ${turns} ${target}`),
  };
};

/** The tracks with each round's mean over the targets taken out: what is left is who was measured, and when in the round. */
const withoutRounds = (tracks: readonly Track[]): Track[] =>
  tracks.map((track) => {
    const same = tracks.filter((one) => one.turns === track.turns && one.metric.key === track.metric.key);
    return {
      ...track,
      values: track.values.map(
        (one, round) => one - same.reduce((sum, other) => sum + other.values[round]!, 0) / same.length,
      ),
    };
  });

/**
 * The tracks without their rounds, each round in a group that its reading gives (its place in the order, the target before
 * it). With two targets the second mirrors the first and is left out. Tracks whose rounds are all in one group say nothing.
 */
export const groupedBy = (
  facts: SessionFacts,
  label: (reading: Reading) => string | undefined,
): Grouped[] => {
  const targets = new Set(facts.tracks.map((one) => one.target));
  const mirror = targets.size === 2 ? [...targets][1] : undefined;
  return withoutRounds(facts.tracks)
    .filter((track) => track.target !== mirror && !track.metric.signed)
    .flatMap(({ target, turns, values }) => {
      const names: string[] = [];
      const groups = Int32Array.from({ length: values.length }, (_, round) => {
        const reading = facts.readingOf(target, turns, round);
        const name = reading && label(reading);
        if (name === undefined) return -1;
        if (!names.includes(name)) names.push(name);
        return names.indexOf(name);
      });
      return names.length < 2 ? [] : [{ values, groups, count: names.length }];
    });
};

/** Half the margin: trends smaller than this can't turn a conclusion, and are no doubt. */
export const trifle = (input: EvidenceInput): number => Math.log1p(input.margin ?? DEFAULTS.margin) / 2;
