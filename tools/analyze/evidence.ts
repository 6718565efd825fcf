/** What the evidence layer is asked about a run (DESIGN §5), and its answer. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import { evidenceOf } from '../../shared/evidence/evidence.ts';
import type { EvidenceInput, Metric, Series, Session } from '../../shared/evidence/input.ts';
import { measuresOf } from '../../shared/evidence/measures.ts';
import { countedBy } from '../../shared/sizes.ts';
import { candidatesOf, floorOf, measuredTargets, referenceOf } from './measured-profile.ts';
import type { Column } from './number-pool.ts';
import type { Samples } from './samples.ts';
import type { ReadSession } from './sources.ts';

/** Measures that every session keeps by themselves; the others are the profile's own. */
const KEPT = [
  'warm',
  'cold',
  'cpu',
  'cpuWarm',
  'cpuCold',
  'cpuSeconds',
  'peakRss',
  'retained',
  'growthPerTurn',
  'bytes',
] as const satisfies (keyof Samples)[];

const columnOf = (samples: Samples, key: string): Column | undefined => {
  const kept = KEPT.find((one) => one === key);
  return kept ? samples[kept] : samples.own.find((one) => one.metric.key === key)?.perSample;
};

/** The rounds of a session: how many, and the number of each from 0. What a log calls its rounds is its own affair. */
interface Rounds {
  size: number;
  numberOf(round: number): number;
}

const roundsOf = ({ data, facts, profile }: ReadSession): Rounds => {
  const all = measuredTargets(profile, facts.mode).flatMap(({ name }) =>
    facts.turns.map((turns) => data.samples(name, turns).rounds.toArray()),
  );
  // As our sessions count them, which takes no table however many there are.
  if (all.every((rounds) => rounds.every((round, at) => round === at)))
    return { size: Math.max(...all.map((rounds) => rounds.length)), numberOf: (round) => round };
  const found = new Set(all.flatMap((rounds) => Array.from(rounds)));
  const numbers = new Map([...found].toSorted((a, b) => a - b).map((round, at) => [round, at]));
  return { size: numbers.size, numberOf: (round) => numbers.get(round)! };
};

/** The values of one target and size by round, for each metric that all its samples have (spec §6). */
const seriesOf = (
  session: ReadSession,
  target: string,
  turns: number,
  metrics: readonly Metric[],
  rounds: Rounds,
): Series[] => {
  const samples = session.data.samples(target, turns);
  const places = samples.rounds.toArray().map(rounds.numberOf);
  const inPlace = places.length === rounds.size && places.every((place, at) => place === at);
  return metrics.flatMap(({ key }) => {
    const found = columnOf(samples, key)?.values();
    if (!found) return [];
    if (inPlace) return [{ target, turns, metric: key, values: found }];
    const values = Array.from<number | null>({ length: rounds.size }).fill(null);
    for (const [at, value] of found.entries()) values[places[at]!] = value;
    return [{ target, turns, metric: key, values }];
  });
};

const evidenceSession = (session: ReadSession, name: string, metrics: readonly Metric[]): Session => {
  const { data, facts, profile } = session;
  const rounds = roundsOf(session);
  return {
    name,
    series: measuredTargets(profile, facts.mode).flatMap((target) =>
      facts.turns.flatMap((turns) => seriesOf(session, target.name, turns, metrics, rounds)),
    ),
    readings: data.readings.all(rounds.numberOf),
  };
};

/** What the words call the sessions: the nodes of a spread, else their run ids. */
const namesOf = (sessions: readonly ReadSession[]): string[] => {
  const nodes = sessions.map((one) => one.facts.node);
  return new Set(nodes).size === nodes.length ? nodes : sessions.map((one) => one.facts.run);
};

/** What is asked beside the sessions. */
export interface Question {
  margin: number;
  /** Earlier attempts of the same question that were refused or void. */
  refusedAttempts: number;
}

/** The question of a comparison. A session that may have ended early is judged by the looks it was planned with. */
const evidenceInput = (sessions: readonly ReadSession[], question: Question): EvidenceInput => {
  const { facts, profile } = sessions[0]!;
  const metrics = measuresOf(profile);
  const names = namesOf(sessions);
  const floor = floorOf(profile)?.name;
  const control = profile.targets.find((one) => one.role === 'control')?.name;
  const planned = sessions.length === 1 ? facts.stopWhen : undefined;
  return {
    reference: referenceOf(profile).name,
    candidates: candidatesOf(profile).map((one) => one.name),
    ...(control === undefined ? {} : { control }),
    ...(floor === undefined ? {} : { floor }),
    turns: facts.turns,
    ...countedBy(profile.targets),
    metrics,
    sessions: sessions.map((one, at) => evidenceSession(one, names[at]!, metrics)),
    margin: question.margin,
    ...(planned ? { looks: planned.looks, level: planned.level, seed: planned.seed } : {}),
    history: { refusedAttempts: question.refusedAttempts },
  };
};

/** Conclusions, doubts and what is shown. A comparison that noise refused has doubts alone. */
export const evidenceOfRun = (
  sessions: readonly ReadSession[],
  question: Question,
  judged: boolean,
): Required<Pick<Analysis, 'conclusions' | 'doubts' | 'shown'>> => {
  const { conclusions, doubts, shown } = evidenceOf(evidenceInput(sessions, question));
  return judged ? { conclusions, doubts, shown } : { conclusions: [], doubts, shown: [] };
};

/** Attempts that count against a later one. */
export const refusedOf = (earlier: Analysis['earlierAttempts']): number =>
  (earlier?.refused ?? 0) + (earlier?.void ?? 0);
