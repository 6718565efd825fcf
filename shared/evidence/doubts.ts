/** What weakens the conclusions, as data: a name, a number, its threshold, one sentence. Pure. */
import { atSize } from '../sizes.ts';
import { median, sortedCopy } from '../statistics.ts';
import { dip, dipP } from './dip.ts';
import {
  DEFAULTS,
  type EvidenceInput,
  type HistoryFacts,
  type Judged,
  type Metric,
  type Reading,
  type Session,
  type SessionDoubt,
  type Shown,
} from './input.ts';
import { wordOf } from './conclusions.ts';
import { factsOf, MOST_ROUNDS, type SessionFacts } from './session-facts.ts';
import { pText } from '../p-value.ts';
import { roundTrends } from './trends.ts';

/**
 * Thresholds. The levels of the tests are small because together they may call one clean A/A session in ten doubtful, at
 * most (checked in test/truth); the shares are of samples or of time.
 */
const THRESHOLDS = {
  /** p of the two-modes test, over all targets and sizes. */
  bimodal: 0.005,
  /** Fewer values than this have no modes to speak of. */
  bimodalRounds: 12,
  /** Share of its wall time that one sample may lose before it counts: held back by a quota, stolen, stalled. */
  lost: { throttled: 0.02, steal: 0.02, stalled: 0.1, contended: 0.1 },
  /** Share of samples that may count. */
  samples: 0.05,
  /** Times below this are mostly the clock's and the scheduler's, ms. */
  shortMs: 1,
} as const;

const shareText = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;

/** What a sample can lose time to: the reading, and what the words say happened to several, and to one where it differs. */
const LOSSES: readonly {
  name: keyof typeof THRESHOLDS.lost;
  read: (one: Reading) => number | undefined;
  what: string;
  whatOfOne?: string;
}[] = [
  {
    name: 'throttled',
    read: (one) => one.throttledMs,
    what: 'were held back by the CPU quota',
    whatOfOne: 'was held back by the CPU quota',
  },
  {
    name: 'steal',
    read: (one) => one.stealMs,
    what: 'lost their cores to other machines',
    whatOfOne: 'lost its cores to other machines',
  },
  { name: 'stalled', read: (one) => one.stalledMs, what: 'stalled for CPU, memory or io' },
  {
    name: 'contended',
    read: (one) => one.contendedMs,
    what: 'ran while tasks of the machine waited for the measured cores,',
  },
];

/** Samples that lost more than a trifle of their time to something that is not theirs. */
const lostTime = ({ readings = [] }: Session): SessionDoubt[] => {
  const found = LOSSES.map((loss) => ({ ...loss, known: 0, hit: 0 }));
  for (const one of readings) {
    const wall = one.wallMs ?? 0;
    if (!(wall > 0)) continue;
    for (const loss of found) {
      const lost = loss.read(one);
      if (lost === undefined) continue;
      loss.known++;
      if (lost / wall > THRESHOLDS.lost[loss.name]) loss.hit++;
    }
  }
  return found.flatMap(({ name, what, whatOfOne = what, known, hit }) => {
    const value = known === 0 ? 0 : hit / known;
    const [happened, whose] = hit === 1 ? [whatOfOne, 'its'] : [what, 'their'];
    const sentence = `${hit} of ${known} samples ${happened} for more than ${shareText(THRESHOLDS.lost[name])} of ${whose} time`;
    return value > THRESHOLDS.samples
      ? [{ name, value, threshold: THRESHOLDS.samples, side: 'above', sentence } as const]
      : [];
  });
};

/** Values that fall into two heaps, in any target: a mean between them describes neither. */
const bimodality = (input: EvidenceInput, facts: SessionFacts): SessionDoubt[] => {
  if (facts.rounds > MOST_ROUNDS) return [];
  const tried = facts.tracks.flatMap((track) => {
    const values = sortedCopy(track.values.filter((one) => !Number.isNaN(one)));
    // Values from a coarse clock sit in heaps of their own.
    const fine = new Set(values).size >= 0.9 * values.length;
    return values.length >= THRESHOLDS.bimodalRounds && fine
      ? [{ track, p: dipP(dip(values), values.length) }]
      : [];
  });
  if (tried.length === 0) return [];
  const worst = tried.reduce((a, b) => (b.p < a.p ? b : a));
  const value = Math.min(1, worst.p * tried.length);
  if (value > THRESHOLDS.bimodal) return [];
  const { target, turns, metric } = worst.track;
  return [
    {
      name: 'bimodal',
      value,
      threshold: THRESHOLDS.bimodal,
      side: 'below',
      turns,
      metric: metric.key,
      sentence: `${metric.key} of ${target} ${atSize(turns, input)} falls into two heaps (dip test, ${pText(value)}); a middle value describes neither`,
    },
  ];
};

/** Primary times so short that the clock and the scheduler are in them. */
const shortTimes = (input: EvidenceInput, facts: SessionFacts): SessionDoubt[] => {
  const times = facts.tracks
    .filter((one) => one.metric.basis !== 'count' && !one.metric.signed)
    .flatMap((track) => {
      const known = track.values.filter((one) => !Number.isNaN(one));
      return known.length === 0 ? [] : [{ track, value: Math.exp(median(known)) }];
    });
  if (times.length === 0) return [];
  const { track, value } = times.reduce((a, b) => (b.value < a.value ? b : a));
  if (value >= THRESHOLDS.shortMs) return [];
  return [
    {
      name: 'short',
      value,
      threshold: THRESHOLDS.shortMs,
      side: 'below',
      turns: track.turns,
      metric: track.metric.key,
      sentence: `${track.metric.key} of ${track.target} ${atSize(track.turns, input)} is ${value.toPrecision(2)} ms; give a sample more work, times under ${THRESHOLDS.shortMs} ms are mostly overhead`,
    },
  ];
};

/** Wall metric → its CPU twin. */
const TWINS: Readonly<Record<string, string>> = { warm: 'cpuWarm', cold: 'cpuCold' };

/** What one metric's interval says, judged or only shown. */
interface Said {
  candidate: string;
  turns: number;
  metric: string;
  ratio: number | null;
  low: number | null;
  high: number | null;
}

/** Wall and CPU time that come to different conclusions about the same work. */
const wallAndCpu = (input: EvidenceInput, said: readonly Said[]): SessionDoubt[] => {
  const margin = Math.log1p(input.margin ?? DEFAULTS.margin);
  const metrics = new Map(input.metrics.map((one) => [one.key, one]));
  const word = (one: Said, metric: Metric) =>
    one.low === null || one.high === null
      ? 'cant-tell'
      : wordOf(Math.log(one.low), Math.log(one.high), margin, metric.better);
  return said.flatMap((wall) => {
    const twin = TWINS[wall.metric];
    const cpu = said.find(
      (one) => one.metric === twin && one.candidate === wall.candidate && one.turns === wall.turns,
    );
    if (!cpu || wall.ratio === null || cpu.ratio === null) return [];
    const [a, b] = [word(wall, metrics.get(wall.metric)!), word(cpu, metrics.get(cpu.metric)!)];
    if (a === 'cant-tell' || b === 'cant-tell' || a === b) return [];
    return [
      {
        name: 'wall-cpu',
        value: Math.abs(Math.log(wall.ratio / cpu.ratio)),
        threshold: margin,
        side: 'above' as const,
        candidate: wall.candidate,
        turns: wall.turns,
        metric: wall.metric,
        sentence: `${wall.candidate} ${atSize(wall.turns, input)} is ${a} by wall time (${wall.metric}) and ${b} by CPU time (${cpu.metric}); it waits for something, or runs on more cores`,
      },
    ];
  });
};

/** The same program twice, and different: nothing can be told from such a session. */
const controls = (input: EvidenceInput, judged: readonly Judged[]): SessionDoubt[] =>
  judged
    .filter((one) => one.control?.differs)
    .filter(
      (one, at, all) =>
        all.findIndex((other) => other.turns === one.turns && other.metric === one.metric) === at,
    )
    .map(({ turns, metric, control }) => ({
      name: 'control',
      value: control!.p,
      threshold: input.level ?? DEFAULTS.level,
      side: 'below',
      turns,
      metric,
      sentence: `${metric} of ${input.control} ${atSize(turns, input)} differs from ${input.reference}, the same program (${pText(control!.p)}); no difference of this run can be believed`,
    }));

/** What the history says against this run. */
export const historyDoubts = (history: HistoryFacts | undefined): SessionDoubt[] => {
  const doubts: SessionDoubt[] = [];
  const { refusedAttempts: refused = 0, otherReferences: others = 0 } = history ?? {};
  if (refused > 0)
    doubts.push({
      name: 'attempts',
      value: refused,
      threshold: 0,
      side: 'above',
      sentence: `${refused} earlier attempt${refused === 1 ? ' was' : 's were'} refused or void; a run repeated until it passes says less`,
    });
  if (others > 0)
    doubts.push({
      name: 'reference-changed',
      value: others,
      threshold: 0,
      side: 'above',
      sentence: `${others} run${others === 1 ? '' : 's'} of the rolling window had another reference; the rolling median mixes programs`,
    });
  return doubts;
};

/** All doubts of a run; those of one of several sessions carry its name. */
export const doubtsOf = (
  input: EvidenceInput,
  judged: readonly Judged[],
  shown: readonly Shown[],
): SessionDoubt[] => {
  const several = input.sessions.length > 1;
  const perSession = input.sessions.flatMap((session) => {
    const facts = factsOf(input, session);
    const mine = (one: { session?: string | undefined }): boolean =>
      one.session === undefined || one.session === session.name;
    const own = judged.filter((one) => one.scope === 'session' && mine(one));
    const doubts = [
      ...roundTrends(input, facts),
      ...lostTime(session),
      ...bimodality(input, facts),
      ...shortTimes(input, facts),
      ...wallAndCpu(input, [...own, ...shown.filter(mine)]),
      ...controls(input, own),
    ];
    return doubts.map((one) => Object.assign(one, several ? { session: session.name } : {}));
  });
  const together = judged.filter((one) => one.scope === 'sessions');
  return [
    ...perSession,
    ...wallAndCpu(input, together),
    ...controls(input, together),
    ...historyDoubts(input.history),
  ];
};
