/** Sessions whose workloads misbehave, each in its own way: the session must name it, end, and leave nothing behind. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompactPlan } from '../../schemas/plan.ts';
import { machineAt } from '../../shared/machine.ts';
import {
  errorOf,
  only,
  OTHER,
  PIN,
  place,
  plainPlan,
  planOf,
  root,
  run,
  type Runtime,
  setUp,
  cleanUp,
} from './pod-runs.ts';

setDefaultTimeout(60_000);
beforeAll(setUp);
afterAll(cleanUp);
const machine = machineAt('/');

/** Processes, dead ones excepted, whose command line has a word. */
const processesWith = (word: string): string[] =>
  machine
    .list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => (machine.read(`/proc/${pid}/cmdline`) ?? '').split('\0').includes(word));

const brief = (step_s: number, stdout_bytes = 100_000): { limits: Partial<CompactPlan['limits']> } => ({
  limits: { step_s, stdout_bytes },
});

interface Misbehaviour {
  /** The candidate's sample. */
  words: string[];
  change?: Parameters<typeof planOf>[1];
  code: string;
  /** In the error's message. */
  says: (string | RegExp)[];
  exit?: number;
}

const CASES: Record<string, Misbehaviour> = {
  'it crashes': {
    words: ['crash'],
    code: 'step',
    says: [
      "the sample of 'tested' at size 3, round 0 ended with status 3",
      'went wrong: \u001b[31m "quoted" ä',
    ],
  },
  'it is ended by a signal': { words: ['segv'], code: 'step', says: ['was ended by SIGSEGV'] },
  'it hangs': {
    words: ['hang'],
    change: brief(0.3),
    code: 'step-limit',
    says: ["'tested'", 'took longer than its limit of 0.3 s'],
  },
  'it hangs and ignores signals': {
    words: ['stubborn'],
    change: brief(0.3),
    code: 'step-limit',
    says: ['took longer than its limit'],
  },
  'it prints nothing': { words: ['nothing'], code: 'step', says: ['printed nothing'] },
  'it prints rubbish': { words: ['rubbish'], code: 'step', says: ["'Segmentation fault'"] },
  'it prints two lines': { words: ['two'], code: 'step', says: ['printed 2 lines'] },
  'it prints NaN': { words: ['nan'], code: 'step', says: ['no JSON object'] },
  'it prints a number out of range': {
    words: ['huge'],
    code: 'step',
    says: ['open: expected a finite number'],
  },
  'it claims more time than it lived': { words: ['liar'], code: 'step', says: ['its process lived only'] },
  'it prints without end': {
    words: ['flood'],
    change: brief(30),
    code: 'output',
    says: ['printed more than 100000 bytes'],
  },
  'it leaves a child': {
    words: ['fork'],
    code: 'left-behind',
    says: [/left processes behind: 'sleep' \(process \d+\)/],
  },
  'it leaves a child that holds its stdout': { words: ['holder'], code: 'left-behind', says: ["'sleep'"] },
  'it leaves a daemon in a session of its own': { words: ['daemon'], code: 'left-behind', says: ["'sleep'"] },
  'it leaves many': { words: ['forkbomb'], code: 'left-behind', says: ['more; they were killed'] },
  'it is not there': { words: ['good'], code: 'step', says: ['ended with status 127', 'absent'] },
  'it is not there, without a pin': {
    words: ['good'],
    change: { pin: 'none' },
    code: 'step',
    says: ["can't start", 'absent', 'it does not exist'],
  },
  'it changes an artifact': {
    words: ['rewrite', '{root}/own'],
    code: 'artifacts',
    says: ["artifacts changed during the session: 'own'"],
  },
};

describe.each(['bun', 'node24', 'node'] as Runtime[])('on %s', (runtime) => {
  for (const [name, { words, change = {}, code, says, exit = 1 }] of Object.entries(CASES))
    test(name, async () => {
      writeFileSync(join(root, 'own'), 'an artifact\n');
      const plan = planOf(words, change);
      if (name.startsWith('it is not there')) plan.profile.targets[0]!.sample = ['{root}/absent'];
      const result = await run(runtime, plan);
      const error = errorOf(result);
      expect({ exit: result.exit, complete: result.complete, code: error?.['code'] }).toEqual({
        exit,
        complete: true,
        code,
      });
      for (const part of says) expect(error!['message']).toMatch(part);
      expect(result.lines.slice(-2).map((line) => line.t)).toEqual(['error', 'end']);
      if (code !== 'artifacts') expect(only(result.lines, 'sample')).toEqual([]);
      for (const word of ['600.417', '1000.417']) expect(processesWith(word)).toEqual([]);
    });
});

describe.each(['bun', 'node24'] as Runtime[])('on %s', (runtime) => {
  // With one core there is no other affinity: a target sets the one it has, and that is no change.
  test(`a target that ${OTHER ? 'changes its own affinity voids the session, and is named' : 'sets the affinity it has is left alone'}`, async () => {
    const result = await run(runtime, planOf(['affinity', OTHER ?? PIN]));
    expect(result.exit).toBe(OTHER ? 5 : 0);
    if (!OTHER) return expect(errorOf(result)).toBeUndefined();
    expect(errorOf(result)).toMatchObject({ code: 'affinity', invalid: true });
    expect(errorOf(result)!['message']).toContain(
      `target 'tested' may run on '${OTHER}', and is pinned to '${PIN}'`,
    );
  });

  test('without a pin, what a target does to its affinity is recorded', async () => {
    const { exit, lines } = await run(runtime, planOf(['affinity', OTHER ?? PIN], { pin: 'none' }));
    expect(exit).toBe(0);
    const own = only(lines, 'cpu').filter((line) => line['ownAffinity'] !== undefined);
    expect(own.map((line) => `${line['target']} ${line['step']}`)).toEqual(
      Array(OTHER ? 3 : 0).fill('tested sample'),
    );
    for (const line of own) expect(line['ownAffinity']).toMatchObject({ cpus: OTHER });
  });

  test('a crash in a later round keeps what was measured before', async () => {
    const plan = planOf(['good']);
    plan.profile.targets[0]!.sample = ['sh', '-c', 'test {sample} -lt 2 && exec {root}/w good; exit 9'];
    const result = await run(runtime, plan);
    expect(result.exit).toBe(1);
    expect(only(result.lines, 'sample').length).toBe(4);
    expect(errorOf(result)!['message']).toContain('round 2 ended with status 9');
  });

  test('a seed that writes nothing, or rubbish, is named', async () => {
    const plan = planOf(['good']);
    plan.profile.targets[0]!.seed = ['true'];
    const none = await run(runtime, plan);
    expect(errorOf(none)!['message']).toMatch(
      /the seed of 'tested' at size 3 .*seed\.json' can't be read: it does not exist/,
    );
    plan.profile.targets[0]!.seed = ['sh', '-c', 'echo oops > {dir}/seed.json'];
    const rubbish = await run(runtime, plan);
    expect(errorOf(rubbish)!['message']).toContain("no JSON object to '");
    expect(errorOf(rubbish)!['message']).toContain("'oops'");
  });

  test('the fixture directory is empty before the seed, whatever was there', async () => {
    const plan = planOf(['good']);
    plan.profile.targets[0]!.seed = ['sh', '-c', 'test -z "$(ls -A {dir})" && exec {root}/w seed {dir}'];
    const data = join(place, 'reused');
    expect((await run(runtime, plan, { env: { K8SBENCH_DATA: data } })).exit).toBe(0);
    expect(existsSync(join(data, 'tested/3/seed.json'))).toBe(true);
    expect((await run(runtime, plan, { env: { K8SBENCH_DATA: data } })).exit).toBe(0);
  });

  test('a plain command that fails is named', async () => {
    const result = await run(
      runtime,
      plainPlan({ new: ['sh', '-c', 'echo no such luck >&2; exit 4'], old: ['true'] }, 2),
    );
    expect(errorOf(result)!['message']).toMatch(
      /the seed of 'new' at size 2 ended with status 4; .*no such luck/,
    );
  });

  test('a session has its own limit', async () => {
    const result = await run(runtime, planOf(['slow', '0.4'], { limits: { session_s: 0.9 } }));
    expect(result.exit).toBe(1);
    expect(result.complete).toBe(true);
    expect(errorOf(result)).toMatchObject({ code: 'session-limit' });
  });
});

/** Exit status, code and message of a session that must end before its first seed. */
const refused = async (
  plan: CompactPlan,
  env: Record<string, string> = {},
): Promise<[number, unknown, unknown]> => {
  const result = await run('bun', plan, { env });
  expect(result.complete).toBe(true);
  expect(only(result.lines, 'seed')).toEqual([]);
  return [result.exit, errorOf(result)?.['code'], errorOf(result)?.['message']];
};

describe('refusals before anything runs', () => {
  test('a bad plan, with all its problems', async () => {
    const [exit, code, message] = await refused({ ...planOf(['good']), rounds: 1, cpus: 0 });
    expect([exit, code]).toEqual([2, 'plan']);
    expect(message).toMatch(/rounds: .*\ncpus: /);
    const source = await run('source', { ...planOf(['good']), rounds: 1, cpus: 0 });
    expect(source.exit).toBe(2);
    expect(source.stderr.split('\n').length).toBe(3);
  });

  test('cores that are not allowed', async () => {
    const [exit, code, message] = await refused(planOf(['good'], { pin: `${PIN},4095` }));
    expect([exit, code]).toEqual([1, 'pin']);
    expect(message).toContain("'4095' lies outside");
  });

  test('artifacts of another commit', async () => {
    const plan = planOf(['good'], { expectCommit: '0123456' });
    expect(await refused(plan)).toEqual([1, 'commit', expect.stringContaining('ones that name no commit')]);
    expect((await refused(plan, { K8SBENCH_COMMIT: '0123457' }))[1]).toBe('commit');
    const fits = await run('bun', plan, {
      env: { K8SBENCH_COMMIT: '0123456789abcdef0123456789abcdef01234567' },
    });
    expect(fits.exit).toBe(0);
    expect(fits.lines[0]).toMatchObject({ commit: '0123456789abcdef0123456789abcdef01234567' });
  });

  test('artifacts whose COMMIT names none', async () => {
    writeFileSync(join(root, 'COMMIT'), 'v1.2\n');
    const [exit, code, message] = await refused(planOf(['good']), { K8SBENCH_COMMIT: '0123457' });
    rmSync(join(root, 'COMMIT'));
    expect([exit, code]).toEqual([1, 'commit']);
    expect(message).toContain("/COMMIT': expected a commit of 7 to 64 hex digits");
  });

  test('another Node than the artifacts were built for, in a pod', async () => {
    writeFileSync(join(root, 'VERSIONS'), 'node=v0.0.1\n');
    const plan = planOf(['good']);
    const [exit, code, message] = await refused(plan, { K8SBENCH_DELIVERY: 'bundle' });
    const local = await run('bun', plan);
    writeFileSync(join(root, 'VERSIONS'), '');
    expect([exit, code]).toEqual([1, 'runtime']);
    expect(message).toContain("'v0.0.1'");
    expect(local.exit).toBe(0);
    expect(local.lines[0]).toMatchObject({ versions: { node: 'v0.0.1' } });
  });
});
