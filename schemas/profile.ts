/**
 * profile.json: what is measured. Spec §2. People write it, so unknown keys are refused.
 *
 * Times in sample lines are ms, memory MiB. Beyond the spec: `command` targets (plain commands, timed by the session
 * itself: K fresh processes are the turns), `prepare`, `repeat`, `outputCheck` and a target's own `commit`.
 */
import * as v from 'valibot';
import { unknownIn } from './placeholders.ts';
import { command, positive, sizeKey, text, word } from './primitives.ts';

/** `pig` is the older name of a candidate; it is read, never written. */
export const role = v.pipe(
  v.picklist(
    ['candidate', 'pig', 'reference', 'floor', 'control'],
    'expected candidate, reference, floor or control',
  ),
  v.transform((name) => (name === 'pig' ? 'candidate' : name)),
);

export const target = v.strictObject({
  name: word,
  role,
  /** Tracker rule of a candidate; default: the profile's rule, or `<rule>-<name>` when there are several. */
  rule: v.optional(word),
  /** Builds the fixture of one size from zero in `{dir}`. A floor has none. */
  seed: v.optional(command),
  /** The JSON file that the seed writes: `seedMs`, `fingerprint`, `bytes`. */
  seedMeta: v.optional(text),
  /** Prints one JSON line with `open` and `turn[]`. */
  sample: v.optional(command),
  /** A plain command instead of seed and sample: timed from outside, `repeat` fresh processes per sample. */
  command: v.optional(command),
  /** Runs untimed before each process of a plain command. */
  prepare: v.optional(command),
  /** The commit this target was built from, when targets differ in it. */
  commit: v.optional(text),
});

/** A further measure that each sample line carries. */
export const metric = v.strictObject({
  key: v.pipe(v.string('expected a key'), v.regex(/^[a-z][A-Za-z0-9]*$/, 'expected a camelCase key')),
  /** Unit of the values as written in sample lines, for people. */
  unit: text,
  better: v.picklist(['lower', 'higher'], 'expected lower or higher'),
  /** Whether its noise can refuse a comparison. */
  gated: v.optional(v.boolean('expected true or false'), false),
  /** An array with one value per turn, pooled over samples, instead of one value per sample. */
  pooled: v.optional(v.boolean('expected true or false'), false),
  /** May be negative: differences instead of ratios. */
  signed: v.optional(v.boolean('expected true or false'), false),
});

/** The fields alone; {@link profile} adds the rules that span them. */
export const profileFields = v.strictObject({
  name: word,
  rule: word,
  about: v.string('expected a text'),
  /** Size → the fingerprint that each seed must reproduce. */
  fingerprints: v.optional(v.record(sizeKey, text), {}),
  targets: v.pipe(
    v.array(target, 'expected a list of targets'),
    v.minLength(2, 'expected at least two targets'),
  ),
  metrics: v.optional(v.array(metric), []),
  /** The metrics that conclusions are about; default: warm. */
  primary: v.optional(v.array(text)),
  /** What the artifacts must hold. */
  needs: v.optional(v.array(text)),
  /** Sizes of a session when none are asked for. */
  turns: v.optional(
    v.pipe(v.array(positive, 'expected a list of sizes'), v.minLength(1, 'expected at least one size')),
  ),
  /** K: fresh processes per sample, for plain commands; it is the profile's only size. */
  repeat: v.optional(v.pipe(positive, v.minValue(2, 'expected a whole number ≥ 2'))),
  /** Whether standard output of plain commands is compared between targets; default true. */
  outputCheck: v.optional(v.boolean('expected true or false')),
});

export type Profile = v.InferOutput<typeof profileFields>;
export type Target = Profile['targets'][number];
export type Metric = NonNullable<Profile['metrics']>[number];

const unknownPlaceholders = (words: readonly string[]): string[] => words.flatMap(unknownIn);

/** Rules of spec §2 that span several fields; each problem is a path and a sentence. */
function* crossProblems(profile: Profile): Generator<{ path: (string | number)[]; message: string }> {
  const of = (wanted: Target['role']) => profile.targets.filter((one) => one.role === wanted);
  if (of('candidate').length === 0) yield { path: ['targets'], message: 'expected at least one candidate' };
  if (of('reference').length !== 1)
    yield { path: ['targets'], message: `expected exactly one reference, found ${of('reference').length}` };
  if (of('floor').length > 1)
    yield { path: ['targets'], message: `expected at most one floor, found ${of('floor').length}` };
  if (of('control').length > 1)
    yield { path: ['targets'], message: `expected at most one control, found ${of('control').length}` };
  const seen = new Set<string>();
  const plain = profile.targets.filter((one) => one.command);
  for (const [at, one] of profile.targets.entries()) {
    const path = ['targets', at];
    if (seen.has(one.name))
      yield { path: [...path, 'name'], message: `expected a name used once, found '${one.name}' again` };
    seen.add(one.name);
    if (one.command) {
      if (one.seed || one.sample || one.seedMeta)
        yield { path, message: 'expected either command, or seed and sample, found both' };
    } else {
      if (!one.sample) yield { path: [...path, 'sample'], message: 'expected a sample command' };
      if (one.prepare) yield { path: [...path, 'prepare'], message: 'expected prepare only beside command' };
      if (one.role === 'floor' && one.seed)
        yield { path: [...path, 'seed'], message: 'expected no seed: a floor has none' };
      if (one.role !== 'floor' && !one.seed)
        yield { path: [...path, 'seed'], message: 'expected a seed command' };
      if (one.seed && !one.seedMeta)
        yield { path: [...path, 'seedMeta'], message: 'expected the JSON file that the seed writes' };
    }
    if (one.rule && one.role !== 'candidate')
      yield { path: [...path, 'rule'], message: 'expected a rule on candidates only' };
    for (const field of ['seed', 'sample', 'command', 'prepare'] as const)
      for (const found of unknownPlaceholders(one[field] ?? []))
        yield {
          path: [...path, field],
          message: `expected {root}, {dir}, {turns} or {sample} (write {{ and }} for braces), found '${found}'`,
        };
    for (const found of unknownPlaceholders(one.seedMeta ? [one.seedMeta] : []))
      yield {
        path: [...path, 'seedMeta'],
        message: `expected {root}, {dir}, {turns} or {sample}, found '${found}'`,
      };
  }
  if (plain.length > 0 && plain.length < profile.targets.length)
    yield { path: ['targets'], message: 'expected all targets to be plain commands, or none' };
  if (plain.length > 0 && profile.repeat === undefined)
    yield {
      path: ['repeat'],
      message: 'expected repeat: how many processes of a plain command make one sample',
    };
  if (plain.length > 0 && profile.turns !== undefined)
    yield { path: ['turns'], message: 'expected no turns: plain commands have no size but repeat' };
  if (plain.length === 0 && profile.repeat !== undefined)
    yield { path: ['repeat'], message: 'expected repeat only with plain commands' };
  if (plain.length === 0 && profile.outputCheck !== undefined)
    yield { path: ['outputCheck'], message: 'expected outputCheck only with plain commands' };
  const rules = of('candidate').map((one) => candidateRule(profile, one));
  for (const [at, rule] of rules.entries())
    if (rules.indexOf(rule) !== at)
      yield { path: ['targets'], message: `expected rules that differ, found '${rule}' twice` };
  const keys = (profile.metrics ?? []).map((one) => one.key);
  for (const [at, key] of keys.entries()) {
    if (keys.indexOf(key) !== at)
      yield { path: ['metrics', at, 'key'], message: `expected a key used once, found '${key}' again` };
    if (RESERVED_METRICS.has(key) || OF_REFERENCES.test(key))
      yield { path: ['metrics', at, 'key'], message: `expected a key of your own, found '${key}'` };
  }
  for (const [at, name] of (profile.primary ?? []).entries())
    if (!BUILT_IN_METRICS.has(name) && !keys.includes(name))
      yield {
        path: ['primary', at],
        message: `expected one of ${[...BUILT_IN_METRICS, ...keys].join(', ')}, found '${name}'`,
      };
}

/** Metrics that every session has or may have (spec §6). */
const BUILT_IN_METRICS = new Set([
  'warm',
  'cold',
  'cpu',
  'cpuWarm',
  'cpuCold',
  'bytes',
  'peakRss',
  'cpuSeconds',
]);

/** Keys of the tracker's own values, of sample lines and of rows, which a profile's metric may not take. */
const RESERVED_METRICS = new Set([
  ...BUILT_IN_METRICS,
  ...[
    'warmP95',
    'warmMax',
    'coldP95',
    'coldMax',
    'seedS',
    'retainedMB',
    'growthPerTurn',
    'peakRssMB',
    'floorWarm',
    'floorCold',
  ],
  ...[
    'open',
    'turn',
    'openCpu',
    'turnCpu',
    'retained',
    'rss',
    'fingerprint',
    't',
    'seq',
    'target',
    'turns',
    'sample',
    'gomaxprocs',
    'cpuModel',
    'cpuFeatures',
  ],
  // What analyze and the tracker's line put beside the values.
  ...['run', 'from', 'version', 'core', 'rule', 'node'],
  // Names that every object has.
  ...['constructor', 'prototype', 'hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable'],
  ...['toLocaleString', 'toString', 'valueOf'],
]);

/** The tracker's names of a reference's values: `warm` is the candidate's, `piWarm` the reference's (spec §7). */
const OF_REFERENCES = /^pi[A-Z]/;

/** The tracker rule of a candidate (spec §2). */
export const candidateRule = (
  profile: Pick<Profile, 'rule' | 'targets'>,
  candidate: Pick<Target, 'name' | 'rule'>,
): string =>
  candidate.rule ??
  (profile.targets.filter((one) => one.role === 'candidate').length > 1
    ? `${profile.rule}-${candidate.name}`
    : profile.rule);

/** A whole profile, checked. */
export const profile = v.pipe(
  profileFields,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const { path, message } of crossProblems(dataset.value))
      addIssue({ message: `${path.join('.')}: ${message}` });
  }),
);
