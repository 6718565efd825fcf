import { createHash } from 'node:crypto';
import type { CompactPlan } from '../../schemas/plan.ts';
import { unclearIn } from '../../shared/json-text.ts';
import { parseCpuList } from '../../shared/cpu-list.ts';
import { unknownIn } from '../../schemas/placeholders.ts';
import { SessionError } from './session-error.ts';

type Fields = Readonly<Record<string, unknown>>;
/** A rule: what is wanted, and whether a value is that. */
type Rule = readonly [wanted: string, fits: (value: unknown) => boolean];

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isWhole = (least: number) => (value: unknown) =>
  Number.isSafeInteger(value) && (value as number) >= least;
const isCommand = (value: unknown): boolean =>
  Array.isArray(value) && isText(value[0]) && value.every((word) => typeof word === 'string');

const oneOf = (...words: string[]): Rule => [words.join(', '), (value) => words.includes(value as string)];
const whole = (least: number): Rule => [`a whole number ≥ ${least}`, isWhole(least)];
const yesOrNo: Rule = ['true or false', (value) => typeof value === 'boolean'];
const isFinite = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const amount: Rule = ['a finite number ≥ 0', (value) => isFinite(value) && value >= 0];
const text: Rule = ['a text that is not empty', isText];
const optional = ([wanted, fits]: Rule): Rule => [wanted, (value) => value === undefined || fits(value)];
const command: Rule = ['a program and its arguments', isCommand];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** The compact plan's own fields (schemas/plan.ts). */
const PLAN: Readonly<Record<string, Rule>> = {
  format: oneOf('compact-plan/1'),
  run: ['a DNS label', (value) => isText(value) && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(value)],
  mode: oneOf('compare', 'calibrate'),
  turns: [
    'a list of whole numbers ≥ 1',
    (value) => Array.isArray(value) && value.length > 0 && value.every(isWhole(1)),
  ],
  rounds: whole(3),
  warmupRounds: whole(0),
  order: oneOf('rotate', 'balanced'),
  orderSeed: whole(0),
  pin: [
    "auto, none or a list of CPUs such as '0-1,4'",
    (value) =>
      isText(value) && (value === 'auto' || value === 'none' || (parseCpuList(value)?.length ?? 0) > 0),
  ],
  cpus: whole(1),
  allowFrequencyScaling: yesOrNo,
  delivery: oneOf('image', 'bundle', 'local'),
  expectCommit: optional(text),
};
const STOP_WHEN: Readonly<Record<string, Rule>> = {
  looks: [
    'at least two ascending whole numbers ≥ 1, 20 at most',
    (value) =>
      Array.isArray(value) &&
      value.length >= 2 &&
      value.length <= 20 &&
      value.every((one, at) => isWhole(at === 0 ? 1 : value[at - 1] + 1)(one)),
  ],
  margin: ['a finite number > 0', (value) => isFinite(value) && value > 0],
  level: ['a number between 0 and 1', (value) => isFinite(value) && value > 0 && value < 1],
  seed: whole(0),
};
/** Of a profile's own metrics, what an early stop rests on. */
const METRIC: Readonly<Record<string, Rule>> = { key: text, unit: text, better: oneOf('lower', 'higher') };
const LIMITS: Readonly<Record<string, Rule>> = { step_s: amount, session_s: amount, stdout_bytes: whole(1) };
const TARGET: Readonly<Record<string, Rule>> = {
  name: ["a name of A-Z, a-z, 0-9, '.', '_' and '-'", (value) => isText(value) && NAME.test(value)],
  role: oneOf('candidate', 'pig', 'reference', 'floor', 'control'),
  seed: optional(command),
  seedMeta: optional(text),
  sample: optional(command),
  command: optional(command),
  prepare: optional(command),
};

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 80);

function* broken(rules: Readonly<Record<string, Rule>>, value: unknown, at: string): Generator<string> {
  if (!isObject(value)) yield `${at || 'the plan'}: expected an object, found ${shown(value)}`;
  else
    for (const [key, [wanted, fits]] of Object.entries(rules))
      if (!fits(value[key]))
        yield `${at === '' ? '' : `${at}.`}${key}: expected ${wanted}, found ${shown(value[key])}`;
}

/** Rules of one target that span its fields; its fields themselves fit. */
function* brokenTarget(target: Fields, at: string): Generator<string> {
  const { command: plain, seed, seedMeta, sample, prepare, role } = target;
  if (
    plain ? seed || seedMeta || sample : !sample || prepare || (role === 'floor' ? seed : !seed || !seedMeta)
  )
    yield `${at}: expected a command, or a sample and (floors excepted) a seed with its seedMeta`;
  for (const [field, value] of Object.entries({ seed, seedMeta, sample, command: plain, prepare }))
    for (const word of [value ?? []].flat())
      for (const found of unknownIn(word as string))
        yield `${at}.${field}: expected {root}, {dir}, {turns} or {sample} ({{ and }} are braces), found '${found}'`;
}

function* brokenProfile(profile: unknown): Generator<string> {
  yield* broken(
    { name: text, rule: text, repeat: optional(whole(2)), outputCheck: optional(yesOrNo) },
    profile,
    'profile',
  );
  const targets = isObject(profile) ? profile['targets'] : undefined;
  if (!Array.isArray(targets) || targets.length === 0) {
    yield `profile.targets: expected a list of targets, found ${shown(targets)}`;
    return;
  }
  for (const [index, target] of targets.entries()) {
    const at = `profile.targets.${index}`;
    const problems = [...broken(TARGET, target, at)];
    yield* problems.length > 0 ? problems : brokenTarget(target as Fields, at);
  }
  const names = targets.map((one: unknown) => (isObject(one) ? one['name'] : undefined));
  if (new Set(names).size < names.length) yield 'profile.targets: expected names that differ';
  if (targets.filter((one: unknown) => isObject(one) && one['role'] === 'reference').length !== 1)
    yield 'profile.targets: expected exactly one reference';
}

/** The rule of an early stop, and what of the profile it rests on. */
function* brokenStop({ mode, rounds, stopWhen, profile }: Fields): Generator<string> {
  if (stopWhen === undefined) return;
  const problems = [...broken(STOP_WHEN, stopWhen, 'stopWhen')];
  yield* problems;
  if (mode !== 'compare') yield 'stopWhen: expected only in a comparison';
  if (problems.length === 0 && ((stopWhen as Fields)['looks'] as number[]).at(-1) !== rounds)
    yield `stopWhen.looks: expected the last look after round ${shown(rounds)}`;
  if (!isObject(profile)) return;
  const { primary = [], metrics = [] } = profile;
  if (!Array.isArray(primary) || !primary.every(isText))
    yield `profile.primary: expected a list of names, found ${shown(primary)}`;
  if (!Array.isArray(metrics)) yield `profile.metrics: expected a list, found ${shown(metrics)}`;
  else for (const [at, metric] of metrics.entries()) yield* broken(METRIC, metric, `profile.metrics.${at}`);
}

/** Every problem of a compact plan, as far as the session relies on it. */
export const planProblems = (plan: unknown): string[] => {
  const own = [...broken(PLAN, plan, '')];
  if (!isObject(plan)) return own;
  return [
    ...own,
    ...broken(LIMITS, plan['limits'], 'limits'),
    ...brokenProfile(plan['profile']),
    ...brokenStop(plan),
  ];
};

const digest = (json: string): string => createHash('sha256').update(json).digest('hex');

/**
 * The compact plan from its JSON text, or from a plan.json's, and its digest. Checked here by hand, because pod.mjs holds no
 * schema library; the tests hold this against schemas/plan.ts. All problems are in one error.
 */
export const readPlan = (json: string): { plan: CompactPlan; planSha256: string } => {
  const exact = json.trim();
  let value: unknown;
  try {
    value = JSON.parse(exact);
  } catch {
    throw new SessionError(
      'plan',
      exact === ''
        ? 'no plan: expected one in K8SBENCH_PLAN or on stdin; make one with k8sbench plan'
        : "the plan is not JSON: expected a compact plan, or a plan.json, as 'k8sbench plan' writes them",
    );
  }
  const unclear = unclearIn(exact, value);
  if (unclear) throw new SessionError('plan', `the plan, line ${unclear.line}: ${unclear.what}`);
  let planSha256 = digest(exact);
  if (isObject(value) && value['format'] === 'plan/1') {
    planSha256 = digest(JSON.stringify(value['compact']) ?? '');
    if (value['compactSha256'] !== planSha256)
      throw new SessionError(
        'plan',
        "plan.json: its compact plan isn't the one that compactSha256 names; plan again",
      );
    value = value['compact'];
  }
  const problems = planProblems(value);
  if (problems.length > 0) throw new SessionError('plan', problems.join('\n'));
  return { plan: value as CompactPlan, planSha256 };
};
