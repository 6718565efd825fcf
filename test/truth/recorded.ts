/** Sessions that were measured, not simulated (record-sessions.ts): the same statements on a machine's own noise. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { evidenceOf } from '../../shared/evidence/evidence.ts';
import { DEFAULTS, type EvidenceInput, type Metric, type Reading } from '../../shared/evidence/input.ts';
import { conclusionsOf } from '../../shared/evidence/judging.ts';
import { rotate } from '../../shared/sequence.ts';
import { atLeast, atMost, reported, type TruthRecord } from './record.ts';
import { leavesOut } from './trials.ts';

/** Values by round, the candidate's and the reference's; null was not measured. */
type Two = readonly [candidate: readonly (number | null)[], reference: readonly (number | null)[]];

/** One measured session of two targets at one size. */
export interface Recorded {
  format: 'recorded/1';
  /** `aa`: the same program twice; `slower`: the candidate works for `effect` of a turn beside. */
  kind: 'aa' | 'slower';
  workload: string;
  turns: number;
  effect: number;
  margin: number;
  /** ms. */
  values: Readonly<Record<'warm' | 'cpuWarm', Two>>;
  /** As the log has them around each sample. */
  readings: Readonly<Partial<Record<'wallMs' | 'throttledMs' | 'stealMs' | 'speedMs', Two>>>;
}

export const RECORDED = join(import.meta.dir, 'recorded-sessions.jsonl');
const TARGETS = ['candidate', 'reference'] as const;

const BASES = { warm: 'wall', cpuWarm: 'cpu' } as const;
type Key = keyof typeof BASES;

const readingsOf = ({ turns, values, readings }: Recorded): Reading[] => {
  const rounds = Array.from(values.warm[0].keys());
  const order = rounds.flatMap((round) =>
    rotate(TARGETS, round).map((target, position) => ({ target, round, position })),
  );
  return order.map(({ target, round, position }, at) => {
    const reading: Reading = { target, turns, round, position };
    const before = order[at - 1];
    if (before) reading.predecessor = before.target;
    for (const name of ['wallMs', 'throttledMs', 'stealMs', 'speedMs'] as const) {
      const value = readings[name]?.[TARGETS.indexOf(target)]![round];
      if (typeof value === 'number') reading[name] = value;
    }
    return reading;
  });
};

/** The question of a recorded session about one metric; the other one is shown. */
const questionOf = (session: Recorded, primary: Key): EvidenceInput => {
  const { turns, values, margin } = session;
  const metrics = Object.entries(BASES).map(([key, basis]): Metric => ({
    key,
    basis,
    better: 'lower',
    primary: key === primary,
    unit: 'ms',
  }));
  const series = metrics.flatMap(({ key }) =>
    TARGETS.map((target, side) => ({ target, turns, metric: key, values: values[key as Key][side]! })),
  );
  return {
    reference: 'reference',
    candidates: ['candidate'],
    turns: [turns],
    metrics,
    margin,
    sessions: [{ name: 'recorded', series, readings: readingsOf(session) }],
  };
};

/** None before record-sessions.ts has made some. */
const recordedSessions = (): Recorded[] =>
  (existsSync(RECORDED) ? readFileSync(RECORDED, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Recorded);

const countOf = <T>(all: readonly T[], holds: (one: T) => boolean): number => all.filter(holds).length;

/** Doubts that only say how busy the machine was meanwhile: they fire on sessions that are not clean. */
const OF_THE_MACHINE = new Set(['throttled', 'steal', 'stalled', 'contended', 'short', 'clock']);

function* ofSameProgram(workload: string, sessions: readonly Recorded[]): Generator<TruthRecord> {
  const about = (check: string, what: string, hits: number) => ({
    check,
    case: `${workload}: ${what}`,
    count: sessions.length,
    seed: DEFAULTS.seed,
    hits,
  });
  for (const key of ['warm', 'cpuWarm'] as const) {
    const found = sessions.map((one) => evidenceOf(questionOf(one, key)));
    const alarms = found.map(({ conclusions }) => conclusions.some((one) => leavesOut(one, 0)));
    yield atMost(
      DEFAULTS.level,
      about('recorded-false-alarms', `${key}, an interval leaves 1 out`, countOf(alarms, Boolean)),
    );
    yield atMost(
      DEFAULTS.level,
      about(
        'recorded-false-alarms',
        `${key}, called faster or slower at a margin of 3 %`,
        countOf(found, ({ conclusions }) =>
          conclusions.some((one) => ['faster', 'slower'].includes(one.conclusion)),
        ),
      ),
    );
    const own = found.map(({ doubts }) => doubts.filter((one) => !OF_THE_MACHINE.has(one.name)));
    yield reported(
      about(
        'recorded-doubts',
        `${key}, any doubt`,
        countOf(found, ({ doubts }) => doubts.length > 0),
      ),
    );
    yield reported(
      about(
        'recorded-doubts',
        `${key}, times under 1 ms are doubted`,
        countOf(found, ({ doubts }) => doubts.some((one) => one.name === 'short')),
      ),
    );
    yield atMost(
      0.1,
      about(
        'recorded-doubts',
        `${key}, a doubt about the order of rounds or two heaps`,
        countOf(own, (one) => one.length > 0),
      ),
    );
    yield reported(
      about(
        'recorded-doubts',
        `${key}, an interval leaves 1 out and nothing is doubted`,
        countOf(
          found,
          ({ conclusions, doubts }) => doubts.length === 0 && conclusions.some((one) => leavesOut(one, 0)),
        ),
      ),
    );
  }
}

function* ofSlower(workload: string, sessions: readonly Recorded[]): Generator<TruthRecord> {
  const { effect, margin } = sessions[0]!;
  const rounds = sessions.map(({ values }) => values.warm[0].length);
  const planned = [...new Set([Math.min(...rounds), Math.max(...rounds)])].join(' to ');
  const called = (key: Key): number =>
    countOf(sessions, (one) => conclusionsOf(questionOf(one, key))[0]!.conclusion === 'slower');
  const about = (key: Key) => ({
    check: 'recorded-slowdown',
    case: `${workload}, ${100 * effect} % slower, margin ${100 * margin} %, ${planned} rounds planned for ${key}: called slower`,
    count: sessions.length,
    seed: DEFAULTS.seed,
    hits: called(key),
  });
  yield atLeast(DEFAULTS.power, about('cpuWarm'));
}

/** Everything that was recorded, by workload; a file without sessions says nothing. */
export function* recorded(): Generator<TruthRecord> {
  const all = recordedSessions();
  for (const [kind, check] of [
    ['aa', ofSameProgram],
    ['slower', ofSlower],
  ] as const)
    for (const [workload, sessions] of Map.groupBy(
      all.filter((one) => one.kind === kind),
      (one) => one.workload,
    ))
      yield* check(workload, sessions);
}
