/**
 * analysis.json: what a run measured, exact and unrounded, and what may be said of it. Written by `analyze`, read by
 * `tracker`, `view` and `export`. Times ms, memory MiB as in sample lines unless a name says otherwise (DESIGN §5).
 */
import * as v from 'valibot';
import { throttle } from './calibration.ts';
import { sizeNoise } from './noise.ts';
import {
  amount,
  count,
  finite,
  formatTag,
  gate,
  inputs,
  instant,
  mode,
  positive,
  sizeKey,
  text,
} from './primitives.ts';

/** The tracker's words (spec §7). */
export const verdict = v.picklist(['lose', 'win', 'slightly better', 'tie']);
export type Verdict = v.InferOutput<typeof verdict>;

/** What decides whether two sessions met the same machine. */
export const nodeType = v.object({ cpuModel: v.string(), cpuFeatures: v.string(), gomaxprocs: positive });
export type NodeType = v.InferOutput<typeof nodeType>;

/** One session of the run: one pod's log. */
export const session = v.looseObject({
  run: text,
  node: v.string(),
  nodeType,
  cpuSet: v.picklist(['exclusive', 'shared']),
  /** Measured cores; empty: not pinned. */
  cpus: v.string(),
  fixedClock: v.boolean(),
  delivery: text,
  commit: v.string(),
  started_at: instant,
  /** Why its rounds ended early, as planned. */
  stopped: v.optional(text),
  /** Lines in the log that are not the session's. */
  foreignLines: count,
  /** Target name → how often CFS held its samples back. */
  throttle: v.record(v.string(), throttle),
});
export type Session = v.InferOutput<typeof session>;

/** The reference's name of a value (spec §7). */
const referenceName = (name: string): string => `pi${name[0]?.toUpperCase()}${name.slice(1)}`;

/** One candidate at one size. `values` are tracker values before rounding, by tracker name (spec §7). */
export const comparison = v.pipe(
  v.looseObject({
    candidate: text,
    reference: text,
    floor: v.optional(text),
    rule: text,
    turns: positive,
    fingerprint: text,
    /** Pooled warm turns of the candidate, over all sessions. */
    warmTurns: count,
    /** Samples per target, over all sessions. */
    samples: count,
    values: v.record(v.string(), finite),
    /** Values that the tracker has no name for: `piColdMax`. */
    beside: v.record(v.string(), finite),
    /** Metric → this run's verdict, for pairs whose values are both above 0; none when the run was not judged. */
    verdicts: v.record(v.string(), verdict),
    /** Target name → how often CFS held its samples of this size back, over all sessions. */
    throttle: v.record(v.string(), throttle),
  }),
  v.check(
    ({ values, verdicts }) =>
      Object.keys(verdicts).every(
        (name) => Object.hasOwn(values, name) && Object.hasOwn(values, referenceName(name)),
      ) && Object.hasOwn(values, 'growthPerTurn') === Object.hasOwn(values, referenceName('growthPerTurn')),
    'expected the values of both targets wherever there is a verdict or a growth',
  ),
);
export type Comparison = v.InferOutput<typeof comparison>;

/** Something that weakens a conclusion: a number, its threshold, one sentence (DESIGN §1). */
export const doubt = v.looseObject({
  name: text,
  value: finite,
  threshold: finite,
  sentence: text,
  /** What it is about, where it is not the whole session: a candidate, a size, a metric; and which session of several. */
  candidate: v.optional(text),
  turns: v.optional(positive),
  metric: v.optional(text),
  session: v.optional(text),
  /** Where the value lies when it fires: levels of tests below their threshold, shares above it. */
  side: v.optional(v.picklist(['above', 'below'])),
});
export type Doubt = v.InferOutput<typeof doubt>;

/** An interval's ends; null where the rounds can't bound it. */
const interval = { low: v.nullable(finite), high: v.nullable(finite) };

/**
 * What the evidence says of one candidate, size and metric (DESIGN §5); ratio = candidate / reference with its 95 % interval.
 * Shares and ratios have no unit; standard deviations are of log-ratios, of signed metrics in the metric's unit.
 */
export const conclusion = v.looseObject({
  candidate: text,
  turns: positive,
  metric: text,
  basis: v.picklist(['wall', 'cpu', 'count']),
  conclusion: v.picklist(['faster', 'slower', 'same', 'cant-tell']),
  ratio: v.nullable(finite),
  ...interval,
  p: v.nullable(finite),
  margin: amount,
  rounds: count,
  scope: v.picklist(['session', 'sessions']),
  /** The session, when each of several is judged by itself. */
  session: v.optional(text),
  /** How many sessions, when they are judged together. */
  sessions: v.optional(positive),
  /** Comparisons judged together: p and the interval hold for all of them at once. */
  family: v.optional(count),
  /** Why there is nothing to conclude from: below floor, not measured, values without a ratio. */
  reason: v.optional(text),
  /** Signed metrics: candidate − reference instead of a ratio, in the metric's unit. */
  difference: v.optional(v.looseObject({ estimate: finite, ...interval, unit: v.optional(v.string()) })),
  /** The smallest p these rounds could have given. */
  smallestP: v.optional(finite),
  /** True when no data of this many rounds (or sessions) could have been a difference. */
  underpowered: v.optional(v.boolean()),
  /** The smallest true change that would have been called faster or slower with 80 % power, as a share (0.05: 5 %). */
  detectable: v.optional(amount),
  /** Standard deviation of one round within a session, and of sessions' true values, where there are several. */
  withinSd: v.optional(amount),
  betweenSd: v.optional(amount),
  /** What would settle it, about, when it can't be told: more rounds of one session, or more sessions like these. */
  settle: v.optional(v.looseObject({ rounds: v.optional(positive), sessions: v.optional(positive) })),
  /** The control pair of `--aa`, the same program twice, at this size and metric. */
  control: v.optional(
    v.looseObject({
      ratio: v.nullable(finite),
      ...interval,
      p: finite,
      differs: v.boolean(),
      sentence: text,
    }),
  ),
  sentence: text,
  /** The tracker's verdict of the same numbers, and why the two differ where they do. */
  verdict: v.optional(verdict),
  disagreement: v.optional(text),
});
export type Conclusion = v.InferOutput<typeof conclusion>;

/** A metric that is not primary: its ratio with its interval in one session, without a judgement. */
export const shown = v.looseObject({
  session: text,
  candidate: text,
  turns: positive,
  metric: text,
  basis: v.picklist(['wall', 'cpu', 'count']),
  ratio: v.nullable(finite),
  low: v.nullable(finite),
  high: v.nullable(finite),
  rounds: count,
  sentence: text,
});
export type Shown = v.InferOutput<typeof shown>;

/** What `--fail-on` may name: a conclusion that is slower, is anything but faster, or can't tell. */
export const failOn = v.picklist(['slower', 'not-faster', 'cant-tell']);
export type FailOn = v.InferOutput<typeof failOn>;

const fields = {
  format: formatTag('analysis/1'),
  run: text,
  mode,
  /** Measured by another program and brought in by `import`; absent: by a session. */
  origin: v.optional(v.literal('imported')),
  /** Where an imported run comes from, and what its files say of the machine. */
  imported: v.optional(
    v.object({ from: text, machine: v.record(v.string(), v.union([v.string(), finite])) }),
  ),
  profile: text,
  rule: text,
  /** The session's own time (the facts' `at`), not the analysis's: analysing again gives the same bytes. */
  measured_at: instant,
  commit: v.string(),
  gate,
  maxCv: finite,
  judged: v.boolean(),
  /** Why it was not judged; empty when judged. */
  reasons: v.array(text),
  /** What to do next about it. */
  advice: v.array(text),
  /** The exit status of the analysis (DESIGN §2.2). */
  exit: v.picklist([0, 3, 4, 5], 'expected 0, 3, 4 or 5'),
  /** Size list, in the order measured. */
  turns: v.array(positive),
  /** What sizes count; absent: turns. `processes`: those of a sample of plain commands. */
  counted: v.optional(v.literal('processes')),
  rounds: positive,
  /** Whether `--allow-incomplete` read a log that is not whole. */
  incomplete: v.optional(v.array(text)),
  /** At least one; none in an imported run. */
  sessions: v.array(session),
  /** The reference's noise per size, exact. */
  noise: v.record(sizeKey, sizeNoise),
  /** Candidates by size, in the profile's order within a size; empty for a calibration. */
  comparisons: v.array(comparison),
  /** Profile metrics, for readers that show them: key, unit, better. */
  /** The profile's own. `signed`: its values may be negative or 0, and differences are looked at. */
  metrics: v.array(
    v.looseObject({
      key: text,
      unit: text,
      better: v.picklist(['lower', 'higher']),
      signed: v.optional(v.boolean('expected true or false')),
    }),
  ),
  /** Attempts before this one with the same profile, rule and commit, by attempts.jsonl: other runs, and refusals of this run. */
  earlierAttempts: v.optional(v.object({ total: count, refused: count, void: count })),
  /** Artifact digests of each target, as the facts give them. */
  identities: v.record(
    v.string(),
    v.looseObject({ commit: v.optional(v.string()), sha256: v.optional(v.string()) }),
  ),
  doubts: v.array(doubt),
  /** One for each primary metric, size and candidate of a judged comparison. */
  conclusions: v.array(conclusion),
  /** The other metrics of a judged comparison. */
  shown: v.optional(v.array(shown)),
  /** What was asked for: with the same settings, inputs and outputs the step is done already. */
  settings: v.looseObject({
    gate: v.picklist(['auto', 'wall', 'cpu']),
    maxCv: finite,
    allowIncomplete: v.boolean(),
    /** Differences up to this share are the same; part of the question. */
    margin: v.optional(amount),
    /** Conclusions that end with exit 4. */
    failOn: v.optional(v.array(failOn)),
    /** The version that computed it. */
    k8sbench: text,
  }),
  /** Names and digests of the inputs this was computed from, and of the files written with it. */
  inputs,
  outputs: inputs,
};

export const analysis = v.pipe(
  v.looseObject(fields),
  v.rawCheck(({ dataset, addIssue }) => {
    if (dataset.typed && dataset.value.sessions.length === 0 && dataset.value.origin === undefined)
      addIssue({ message: 'sessions: expected at least one session' });
  }),
);
/** Its own fields alone: what a writer has to give. */
export type Analysis = v.InferOutput<v.ObjectSchema<typeof fields, undefined>>;
