import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { compactPlan } from '../../schemas/plan.ts';
import { planProblems, readPlan } from './compact-plan.ts';
import { SessionError } from './session-error.ts';

const WORKLOADS = {
  name: 'store',
  rule: 'store',
  about: '',
  fingerprints: { '50': 'abc' },
  targets: [
    {
      name: 'new',
      role: 'candidate',
      seed: ['{root}/a', '{dir}'],
      seedMeta: '{dir}/seed.json',
      sample: ['{root}/a', '{turns}'],
    },
    { name: 'old', role: 'reference', seed: ['b'], seedMeta: '{dir}/s', sample: ['b', '{{x}}'] },
    { name: 'floor', role: 'floor', sample: ['c', '{sample}'] },
  ],
};
const PLAIN = {
  name: 'p',
  rule: 'p',
  about: '',
  repeat: 4,
  outputCheck: false,
  targets: [
    { name: 'a', role: 'candidate', command: ['sort'], prepare: ['true'] },
    { name: 'b', role: 'reference', command: ['sort', ''] },
  ],
};
const BASE = {
  format: 'compact-plan/1',
  run: 'k8sbench-cmp-x',
  mode: 'compare',
  profile: WORKLOADS as Record<string, unknown>,
  turns: [50, 500],
  rounds: 3,
  warmupRounds: 0,
  order: 'rotate',
  orderSeed: 0,
  pin: 'auto',
  cpus: 2,
  allowFrequencyScaling: false,
  delivery: 'local',
  limits: { step_s: 60, session_s: 600, stdout_bytes: 1024 },
};

const STOP = { looks: [6, 9, 12], margin: 0.03, level: 0.05, seed: 1 };
const stopping = (change: object) => ({ ...BASE, rounds: 12, stopWhen: { ...STOP, ...change } });

const target = (change: Record<string, unknown>, profile = WORKLOADS) => ({
  ...BASE,
  profile: { ...profile, targets: [{ ...profile.targets[0], ...change }, ...profile.targets.slice(1)] },
});

const GOOD: [string, unknown][] = [
  ['workloads', BASE],
  ['plain commands', { ...BASE, profile: PLAIN, turns: [4] }],
  ['a commit', { ...BASE, expectCommit: '0123456' }],
  ['an older name of candidates', target({ role: 'pig' })],
  ['a list as pin', { ...BASE, pin: '0-1,4' }],
  ['looks after which it may end', { ...BASE, rounds: 12, stopWhen: STOP }],
];

const BAD: [string, unknown, string][] = [
  ['no object', 5, 'the plan: expected an object'],
  ['another version', { ...BASE, format: 'compact-plan/2' }, 'format: expected compact-plan/1'],
  ['a run id that is no label', { ...BASE, run: 'A_b' }, 'run: expected a DNS label'],
  ['another mode', { ...BASE, mode: 'race' }, 'mode: expected compare, calibrate'],
  ['no sizes', { ...BASE, turns: [] }, 'turns: expected'],
  ['a size of 0', { ...BASE, turns: [0] }, 'turns: expected'],
  ['half a round', { ...BASE, rounds: 3.5 }, 'rounds: expected'],
  ['too few rounds', { ...BASE, rounds: 2 }, 'rounds: expected'],
  ['warm-up rounds below 0', { ...BASE, warmupRounds: -1 }, 'warmupRounds: expected'],
  ['no CPU', { ...BASE, cpus: 0 }, 'cpus: expected'],
  ['an empty pin', { ...BASE, pin: '' }, 'pin: expected'],
  ['another order', { ...BASE, order: 'random' }, 'order: expected'],
  ['an order seed as text', { ...BASE, orderSeed: '1' }, 'orderSeed: expected'],
  ['yes as text', { ...BASE, allowFrequencyScaling: 'yes' }, 'allowFrequencyScaling: expected'],
  ['another delivery', { ...BASE, delivery: 'mail' }, 'delivery: expected'],
  ['looks that go back', stopping({ looks: [9, 6, 12] }), 'stopWhen.looks: expected at least two ascending'],
  ['one look', stopping({ looks: [12] }), 'stopWhen.looks: expected at least two ascending'],
  ['a look after the end', stopping({ looks: [6, 13] }), 'the last look after round 12'],
  ['no margin', stopping({ margin: 0 }), 'stopWhen.margin: expected a finite number > 0'],
  ['a level of 1', stopping({ level: 1 }), 'stopWhen.level: expected'],
  ['a seed of a half', stopping({ seed: 0.5 }), 'stopWhen.seed: expected'],
  [
    'a calibration that stops',
    { ...stopping({}), mode: 'calibrate' },
    'stopWhen: expected only in a comparison',
  ],
  [
    'a primary metric that is none',
    { ...stopping({}), profile: { ...WORKLOADS, primary: [''] } },
    'profile.primary: expected',
  ],
  [
    'a metric without a direction',
    { ...stopping({}), profile: { ...WORKLOADS, metrics: [{ key: 'rows', unit: '1' }] } },
    'profile.metrics.0.better: expected',
  ],
  ['no limits', { ...BASE, limits: undefined }, 'limits: expected an object'],
  ['an endless step', { ...BASE, limits: { ...BASE.limits, step_s: null } }, 'limits.step_s: expected'],
  [
    'no room for output',
    { ...BASE, limits: { ...BASE.limits, stdout_bytes: 0 } },
    'limits.stdout_bytes: expected',
  ],
  ['no profile', { ...BASE, profile: undefined }, 'profile: expected an object'],
  ['no targets', { ...BASE, profile: { ...WORKLOADS, targets: [] } }, 'profile.targets: expected'],
  ['a name that is a path', target({ name: '../x' }), 'profile.targets.0.name: expected a name'],
  ['a name twice', target({ name: 'old' }), 'expected names that differ'],
  ['another role', target({ role: 'king' }), 'profile.targets.0.role: expected'],
  [
    'no reference',
    { ...BASE, profile: { ...WORKLOADS, targets: [WORKLOADS.targets[0]] } },
    'exactly one reference',
  ],
  ['a shell string', target({ sample: 'a b' }), 'profile.targets.0.sample: expected a program'],
  ['no program', target({ sample: [] }), 'profile.targets.0.sample: expected a program'],
  ['no sample', target({ sample: undefined }), 'profile.targets.0: expected a command, or a sample'],
  ['no seed', target({ seed: undefined }), 'profile.targets.0: expected a command, or a sample'],
  ['no seed file', target({ seedMeta: undefined }), 'profile.targets.0: expected a command, or a sample'],
  ['both kinds at once', target({ command: ['x'] }), 'profile.targets.0: expected a command, or a sample'],
  ['an unknown placeholder', target({ sample: ['{rot}'] }), 'profile.targets.0.sample: expected {root}'],
  ['an open brace', target({ seed: ['{dir'] }), 'profile.targets.0.seed: expected {root}'],
  ['one repetition', { ...BASE, profile: { ...PLAIN, repeat: 1 } }, 'profile.repeat: expected'],
];

describe('the compact plan', () => {
  for (const [name, plan] of GOOD)
    test(`accepts ${name}, as the format does`, () => {
      expect(planProblems(plan)).toEqual([]);
      expect(v.is(compactPlan, plan)).toBe(true);
    });

  for (const [name, plan, problem] of BAD)
    test(`refuses ${name}`, () => {
      expect(planProblems(plan).join('\n')).toContain(problem);
      // A pin list is looked at only where the machine is known; all else the format refuses too.
      expect(v.is(compactPlan, plan)).toBe(false);
    });

  test('a pin that is no list is refused here, where it is read', () => {
    expect(planProblems({ ...BASE, pin: '0-' }).join()).toContain('pin: expected');
  });

  test('all problems are in one error, which is a wrong configuration', () => {
    const text = JSON.stringify({ ...BASE, mode: 'x', cpus: 0, rounds: 1 });
    let caught: unknown;
    try {
      readPlan(text);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(SessionError);
    expect((caught as SessionError).message.split('\n').length).toBe(3);
    expect((caught as SessionError).exit).toBe(2);
  });

  test('its digest is over its exact text', () => {
    const text = JSON.stringify(BASE);
    const digest = createHash('sha256').update(text).digest('hex');
    expect(readPlan(text).planSha256).toBe(digest);
    expect(readPlan(`${text}\n`)).toEqual({ plan: BASE as never, planSha256: digest });
    const whole = { format: 'plan/1', compactSha256: digest, compact: BASE, steps: [] };
    expect(readPlan(JSON.stringify(whole, null, 2))).toEqual({ plan: BASE as never, planSha256: digest });
  });

  test('a plan.json that was edited is refused, and so is no plan', () => {
    const edited = { format: 'plan/1', compactSha256: '0'.repeat(64), compact: BASE, steps: [] };
    expect(() => readPlan(JSON.stringify(edited))).toThrow('compactSha256');
    expect(() => readPlan('')).toThrow('no plan');
    expect(() => readPlan('{')).toThrow('not JSON');
  });
});
