/** An imported pair as an analysis and its rows: evidence with its doubts, and no verdict of the tracker. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { ResultLine } from '../../schemas/results.ts';
import { DEFAULTS, type EvidenceInput, type SessionDoubt } from '../../shared/evidence/input.ts';
import { evidenceOf } from '../../shared/evidence/evidence.ts';
import { mean, median, standardDeviation } from '../../shared/statistics.ts';
import { referenceKey } from '../../shared/verdict.ts';
import { VERSION } from '../../shared/version.ts';
import type { Pair, Side } from './choose.ts';
import type { Format, FoundMetric } from './found.ts';

/** Imported benchmarks have one size, which nobody named. */
const SIZE = 1;

export interface About {
  run: string;
  profile: string;
  rule: string;
  commit: string;
  measuredAt: string;
  machine: Record<string, string | number>;
  /** Of two machines. */
  doubts: SessionDoubt[];
  margin?: number;
  inputs: Record<string, string>;
}

/** Metrics that both sides have in every sample, those of the reference first. */
export const commonMetrics = ({ reference, candidate }: Pair): FoundMetric[] =>
  reference.found.metrics.filter(({ key }) =>
    [reference, candidate].every((side) => side.found.samples.every((one) => one[key] !== undefined)),
  );

export const rowsOf = ({ reference, candidate }: Pair): ResultLine[] =>
  [reference, candidate].flatMap(({ target, found }) =>
    found.samples.map((sample, at) => ({ target, turns: SIZE, sample: at, ...sample })),
  );

const columnOf = ({ found }: Side, key: string): number[] => found.samples.map((one) => one[key]!);

/** The evidence pairs sample by sample: any pairing is as good as another where samples are independent. */
const inputOf = (pair: Pair, metrics: readonly FoundMetric[], about: About): EvidenceInput => {
  const { reference, candidate } = pair;
  const pairs = Math.min(reference.found.samples.length, candidate.found.samples.length);
  return {
    reference: reference.target,
    candidates: [candidate.target],
    turns: [SIZE],
    metrics: metrics.map(({ key, unit, basis, better }, at) => ({
      key,
      unit,
      basis,
      better,
      primary: at === 0,
    })),
    sessions: [
      {
        name: about.run,
        series: [reference, candidate].flatMap((side) =>
          metrics.map(({ key }) => ({
            target: side.target,
            turns: SIZE,
            metric: key,
            values: columnOf(side, key).slice(0, pairs),
          })),
        ),
      },
    ],
    margin: about.margin ?? DEFAULTS.margin,
  };
};

/** What an import can't support. */
const importDoubts = ({ reference, candidate }: Pair, { program, averaged }: Format): SessionDoubt[] => {
  const counts = [reference, candidate].map((side) => side.found.samples.length);
  const left = Math.abs(counts[0]! - counts[1]!);
  const doubts: SessionDoubt[] = [
    {
      name: 'unpaired',
      value: 1,
      threshold: 0,
      side: 'above',
      sentence: `${program} measures one program after the other: a machine that changed between them looks like a difference`,
    },
    ...[reference, candidate].flatMap((side) => side.found.doubts ?? []),
  ];
  if (left > 0)
    doubts.push({
      name: 'left-out',
      value: left,
      threshold: 0,
      side: 'above',
      sentence: `${counts[0]} samples against ${counts[1]}: the last ${left} of the longer row have no partner and are left out`,
    });
  if (
    averaged &&
    ![reference, candidate].some((side) => side.found.doubts?.some((one) => one.name === 'one-process'))
  )
    doubts.push({
      name: 'averaged',
      value: 1,
      threshold: 0,
      side: 'above',
      sentence: `a sample of ${program} is a mean over many repetitions in one process: it hides what varies from one to the next`,
    });
  return doubts;
};

const noiseOf = (pair: Pair, metrics: readonly FoundMetric[]): Analysis['noise'][string] =>
  Object.fromEntries(
    metrics.map(({ key }) => {
      const values = columnOf(pair.reference, key);
      const [middle, sd] = [mean(values), standardDeviation(values)];
      return [
        key,
        { n: values.length, mean: middle, sd, cv: middle === 0 ? null : sd / middle, gate: false },
      ];
    }),
  );

/** The analysis without the digests of its rows. */
export const importedAnalysis = (pair: Pair, format: Format, about: About): Omit<Analysis, 'outputs'> => {
  const { reference, candidate } = pair;
  const metrics = commonMetrics(pair);
  const { conclusions, shown, doubts } = evidenceOf(inputOf(pair, metrics, about));
  const own = doubts.filter(({ name }) => !(format.averaged && name === 'short'));
  const pairs = Math.min(reference.found.samples.length, candidate.found.samples.length);
  return {
    format: 'analysis/1',
    run: about.run,
    mode: 'compare',
    origin: 'imported',
    imported: { from: format.program, machine: about.machine },
    profile: about.profile,
    rule: about.rule,
    measured_at: about.measuredAt,
    commit: about.commit,
    gate: 'cpu',
    maxCv: 0.05,
    judged: false,
    exit: 0,
    reasons: [
      `imported from ${format.program}: neither the machine's noise nor that both did the same work was checked`,
    ],
    advice: [],
    turns: [SIZE],
    rounds: pairs,
    sessions: [],
    noise: { [SIZE]: noiseOf(pair, metrics) },
    comparisons: [
      {
        candidate: candidate.target,
        reference: reference.target,
        rule: about.rule,
        turns: SIZE,
        fingerprint: 'unchecked',
        warmTurns: 0,
        samples: pairs,
        values: Object.fromEntries(
          metrics.flatMap(({ key }) => [
            [key, median(columnOf(candidate, key))],
            [referenceKey(key), median(columnOf(reference, key))],
          ]),
        ),
        beside: {},
        verdicts: {},
        throttle: {},
      },
    ],
    metrics: metrics.map(({ key, unit, better }) => ({ key, unit, better })),
    identities: {},
    doubts: [...about.doubts, ...importDoubts(pair, format), ...own],
    conclusions,
    shown,
    settings: {
      gate: 'auto',
      maxCv: 0.05,
      allowIncomplete: false,
      margin: about.margin ?? DEFAULTS.margin,
      k8sbench: VERSION,
    },
    inputs: about.inputs,
  };
};
