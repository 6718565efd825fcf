/** Each agent that comes with settings, in every mode it has, on Node from the bundle and on Bun. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import { sampleFields } from '../../tools/pod/workload-line.ts';
import { agentBundle } from './agent-bundle.ts';

let bundle: string;
const base = mkdtempSync(join(tmpdir(), 'k8sbench-agents-'));
beforeAll(() => void (bundle = agentBundle()), 600_000);
afterAll(() => rmSync(base, { recursive: true }));

/** Runs one command of a profile's target as the session would. */
const run = (
  profile: string,
  name: string,
  step: 'seed' | 'sample',
  turns: number,
  runtime: 'node' | 'bun',
) => {
  const target = BUILT_IN[profile]!.targets.find((one) => one.name === name)!;
  const dir = join(base, `${profile}-${name}-${runtime}`);
  const words = target[step]!.map((word) =>
    word.replaceAll('{root}', bundle).replaceAll('{dir}', dir).replaceAll('{turns}', String(turns)),
  );
  const program = runtime === 'node' ? join(bundle, 'bin/node') : process.execPath;
  const done = Bun.spawnSync([program, ...words.slice(1)], {
    stderr: 'pipe',
    env: { ...process.env, PATH: `${join(bundle, 'bin')}:${process.env['PATH']}` },
  });
  return { exit: done.exitCode, stdout: done.stdout.toString(), stderr: done.stderr.toString(), dir };
};

/** One seed and one sample; the sample's line, checked as a session checks it. */
const sample = (profile: string, name: string, turns: number, runtime: 'node' | 'bun') => {
  const seeded = run(profile, name, 'seed', turns, runtime);
  expect([seeded.exit, seeded.stderr]).toEqual([0, '']);
  const { fingerprint } = JSON.parse(readFileSync(join(seeded.dir, 'seed.json'), 'utf8')) as {
    fingerprint: string;
  };
  expect(fingerprint).toBe(BUILT_IN[profile]!.fingerprints[String(turns)]!);
  const done = run(profile, name, 'sample', turns, runtime);
  expect([done.exit, done.stderr]).toEqual([0, '']);
  // Nothing of the sample is left beside the fixture.
  expect(readdirSync(done.dir).filter((one) => one.startsWith('sample-'))).toEqual([]);
  const handed = sampleFields(done.stdout);
  if ('wrong' in handed) throw new Error(handed.wrong);
  return handed.fields as Record<string, number | number[] | string>;
};

/** Whether each of these was measured: a number > 0, or a list of such. */
const measured = (line: Record<string, unknown>, keys: readonly string[]) =>
  expect(
    keys.filter((key) => ![line[key]].flat().every((one) => typeof one === 'number' && one > 0)),
  ).toEqual([]);

/** May be nothing: an agent that asks for nothing else, a cgroup that is not its own, a process too short to be met, no `/resume`. */
const MAYBE =
  /^(sideRequests|foreignHosts|.*ExactCpu|versionRss|versionCpu|streamBehind|redraw.*|resume(Cpu)?)$/;
const metricsOf = (profile: string): string[] =>
  BUILT_IN[profile]!.metrics!.map((one) => one.key).filter((key) => !MAYBE.test(key));

describe.each(['pi', 'codex', 'opencode'])('overhead of %s', (name) => {
  test.each(name === 'opencode' ? (['node'] as const) : (['node', 'bun'] as const))(
    'on %s',
    (runtime) => {
      const line = sample(`overhead-${name}`, name, 2, runtime);
      expect(
        [line['turn'], line['turnCpu'], line['rpcPrompt']].map((one) => (one as number[]).length),
      ).toEqual([2, 2, 2]);
      measured(line, ['open', 'openCpu', 'turn', 'peakRss', ...metricsOf(`overhead-${name}`)]);
      // CPU time is no longer than two cores could give in that time.
      expect(line['printToolsCpu'] as number).toBeLessThan(2.2 * (line['printToolsWall'] as number));
      expect(line['says']).toMatch(/\d+\.\d+\.\d+/);
    },
    600_000,
  );
});

describe.each(['pi', 'codex', 'pi-regular'])('long sessions of %s', (name) => {
  test.each([
    ['session-scale-context', 20_000],
    ['session-scale-entries', 1000],
    ['long-history', 20_000],
  ] as const)(
    '%s',
    (profile, turns) => {
      const line = sample(profile, name, turns, 'node');
      expect((line['turn'] as number[]).length).toBe(5);
      measured(line, ['open', 'openCpu', 'turn', 'turnCpu', 'peakRss', ...metricsOf(profile)]);
      // The whole session is in the first request.
      const messages = line['requestMessages'] as number;
      if (profile === 'session-scale-entries') expect(messages).toBeGreaterThanOrEqual(turns);
      else expect(line['requestBytes'] as number).toBeGreaterThan(turns * 3);
    },
    300_000,
  );
});

test('an agent without a session in its settings says so', () => {
  const target = BUILT_IN['session-scale-context']!.targets[0]!;
  const words = target.seed!.map((word) =>
    word
      .replace('settings/pi.json', 'settings/opencode.json')
      .replaceAll('{root}', bundle)
      .replaceAll('{dir}', base)
      .replaceAll('{turns}', '20000'),
  );
  const done = Bun.spawnSync([join(bundle, 'bin/node'), ...words.slice(1)], { stderr: 'pipe' });
  expect([done.exitCode, done.stderr.toString()]).toEqual([
    1,
    expect.stringMatching(
      /^agent 'opencode' has no session in its settings '.*'; it can have no part in this workload\n$/,
    ),
  ]);
});
