/**
 * pod.log: the session's lines, JSON, one per line, all with `t` and a running integer `seq` (spec §5, DESIGN §4.6).
 * Programs extend it, so unknown keys are kept. Readers skip and count lines that aren't JSON objects with `t`.
 */
import * as v from 'valibot';
import { amount, count, finite, instant, mode, positive, sha256, text } from './primitives.ts';
import { stopWhen } from './plan.ts';

const seq = count;
/** Beyond everything that is measured, and far below where squares and sums of such numbers end. */
export const LARGEST = 1e18;
const tooLarge = 'expected a number ≤ 1e18';
/** A time, a size, a count as measured. */
const magnitude = v.pipe(amount, v.maxValue(LARGEST, tooLarge));
/** A reading that this machine may not offer: null (or absent) is "not measured", never 0. */
const reading = v.nullish(magnitude);
/** The same of what is counted. */
const tally = v.nullish(count);

/** The machine, the plan and the artifacts, before anything is measured. */
export const facts = v.looseObject({
  t: v.literal('facts'),
  seq,
  run: text,
  mode,
  profile: text,
  rule: text,
  /** The profile as measured; kept as written, so a log describes itself. */
  profileSpec: v.looseObject({
    name: text,
    rule: text,
    targets: v.array(v.looseObject({ name: text, role: text })),
  }),
  targets: v.array(text),
  turns: v.array(positive),
  rounds: positive,
  node: v.string(),
  pod: v.string(),
  commit: v.string(),
  kernel: v.string(),
  cpuModel: v.string(),
  /** Vector features of the first core, in the order of spec §5, blank-separated. */
  cpuFeatures: v.string(),
  cpusOnline: v.string(),
  cpusAllowed: v.string(),
  requestedCpus: positive,
  cpuSet: v.picklist(['exclusive', 'shared']),
  cgroup: v.string(),
  cpuMax: v.nullish(v.string()),
  memoryMax: v.nullish(v.string()),
  cpuStat: v.record(v.string(), v.unknown()),
  loadavg: v.string(),
  delivery: text,
  image: v.string(),
  bundleSha256: v.string(),
  nodeRuntime: v.string(),
  versions: v.record(v.string(), v.string()),
  artifacts: v.record(v.string(), v.unknown()),
  planSha256: v.optional(sha256),
  /** The rule by which the rounds may end early: what is concluded has to know it. */
  stopWhen: v.optional(stopWhen),
  at: instant,
});

/** Which cores are measured, and whether their clock is fixed. */
export const pin = v.looseObject({
  t: v.literal('pin'),
  seq,
  /** Idle share (0–1) of each candidate core over one second; empty unless method is `quietest`. */
  idle: v.record(v.string(), finite),
  method: v.picklist(['all-allowed', 'quietest', 'list', 'none']),
  cpus: v.string(),
  gomaxprocs: positive,
  /** Governor per measured core; a core without one is absent, one that can't be read is `unreadable`. */
  governors: v.record(v.string(), v.string()),
  fixedClock: v.boolean(),
});

const stepKind = v.picklist(['seed', 'warmup', 'sample']);

/** Readings around one process; stands before its seed, warmup or sample line. */
export const cpu = v.looseObject({
  t: v.literal('cpu'),
  seq,
  step: stepKind,
  target: text,
  turns: positive,
  sample: v.optional(count),
  wallMs: magnitude,
  usageUsec: reading,
  nrPeriods: tally,
  nrThrottled: tally,
  throttledUsec: reading,
  /** Mean, lowest and highest of the highest pinned core's clock, MHz. */
  mhz: reading,
  mhzMin: reading,
  mhzMax: reading,
});

const machine = { gomaxprocs: positive, cpuModel: v.string(), cpuFeatures: v.string() };

/** A target's fixture of one size, built from zero. */
export const seed = v.looseObject({
  t: v.literal('seed'),
  seq,
  target: text,
  turns: positive,
  fingerprint: text,
  /** ms; absent where the seed is not a cost of the target (plain commands). */
  seedMs: reading,
  bytes: reading,
  from: v.literal('empty'),
  ...machine,
});

const measured = {
  seq,
  target: text,
  turns: positive,
  /** The round. */
  sample: count,
  /** ms. */
  open: magnitude,
  /** ms each. */
  turn: v.pipe(v.array(magnitude), v.minLength(1, 'expected at least one turn')),
  openCpu: reading,
  turnCpu: v.nullish(v.array(magnitude)),
  bytes: reading,
  /** MiB. */
  peakRss: reading,
  /** MiB kept after a forced collection. */
  retained: reading,
  /** Bytes the heap grows per measured turn; may be negative. */
  growthPerTurn: v.nullish(v.pipe(finite, v.minValue(-LARGEST, tooLarge), v.maxValue(LARGEST, tooLarge))),
  cpuSeconds: reading,
  rss: reading,
  fingerprint: v.nullish(text),
  ...machine,
};

/** One measurement of one target at one size. */
export const sample = v.looseObject({ t: v.literal('sample'), ...measured });

/** Like a sample, never counted. */
export const warmup = v.looseObject({ t: v.literal('warmup'), ...measured });

/** Why the rounds ended early, as planned. */
export const stop = v.looseObject({ t: v.literal('stop'), seq, reason: text, rounds: count });

export const done = v.looseObject({ t: v.literal('done'), seq, seeds: count, samples: count, at: instant });

/**
 * Why the session failed. `invalid` marks a measurement that must not be judged (exit 5), `code` names the cause.
 * The bundle's start-up script prints one without `seq`.
 */
export const error = v.looseObject({
  t: v.literal('error'),
  seq: v.optional(seq),
  message: text,
  code: v.optional(text),
  invalid: v.optional(v.boolean()),
});

/** The last line: how many lines of the session stand before it, and the SHA-256 over their bytes. */
export const end = v.looseObject({ t: v.literal('end'), seq, lines: count, sha256 });

export const logLine = v.variant('t', [facts, pin, cpu, seed, sample, warmup, stop, done, error, end]);

export type Facts = v.InferOutput<typeof facts>;
export type Pin = v.InferOutput<typeof pin>;
export type Cpu = v.InferOutput<typeof cpu>;
export type Seed = v.InferOutput<typeof seed>;
export type Sample = v.InferOutput<typeof sample>;
export type LogLine = v.InferOutput<typeof logLine>;
