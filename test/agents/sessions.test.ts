/** Whole sessions with agents: two real ones compared, and one that misbehaves. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import { markedProcesses } from '../../shared/marked-processes.ts';
import { unfit } from '../run-files.ts';
import { agentBundle, k8sbench, root } from './agent-bundle.ts';

const base = mkdtempSync(join(tmpdir(), 'k8sbench-agent-sessions-'));
let bundle: string;
beforeAll(() => void (bundle = agentBundle()), 600_000);
afterAll(() => rmSync(base, { recursive: true }));

/** The only run in a directory of runs. */
const onlyRun = (out: string): string => {
  const runs = readdirSync(out).filter((one) => statSync(join(out, one)).isDirectory());
  expect(runs).toHaveLength(1);
  return join(out, runs[0]!);
};
/** The bundle's Node runs the harness. */
const path = (): Record<string, string> => ({ PATH: `${join(bundle, 'bin')}:${process.env['PATH']}` });

test('two agents are compared: a complete run, evidence and a page', () => {
  const cwd = join(base, 'compare');
  mkdirSync(cwd);
  const words = [
    'compare',
    '--local',
    '--bundle',
    bundle,
    '--profile',
    'overhead-pi',
    '--candidate',
    'codex',
  ];
  const more = [
    '--turns',
    '2',
    '--rounds',
    '3',
    '--allow-frequency-scaling',
    '--not-judged',
    'pass',
    '--max-cv',
    '10',
  ];
  const done = k8sbench(cwd, [...words, ...more], path());
  expect(done.exit === 0 ? '' : done.stderr).toBe('');
  const run = onlyRun(join(cwd, 'out'));
  expect(unfit(run)).toEqual([]);
  const analysis = JSON.parse(readFileSync(join(run, 'analysis.json'), 'utf8')) as Analysis;
  const keys = JSON.stringify(analysis);
  for (const key of ['rpcPrompt', 'ptyToScreen', 'printToolsCpu', 'versionWall']) expect(keys).toContain(key);
  expect(analysis.conclusions?.map((one) => one.candidate)).toContain('codex');
  const viewed = k8sbench(cwd, ['view', '--run', run]);
  expect(viewed.exit).toBe(0);
  const page = readFileSync(join(run, 'report.html'), 'utf8');
  for (const name of ['codex', 'rpcPrompt', 'ptyToScreen']) expect(page).toContain(name);
}, 900_000);

test('a candidate that the profile does not have is refused', () => {
  const done = k8sbench(base, [
    'compare',
    '--local',
    '--bundle',
    bundle,
    '--profile',
    'overhead-pi',
    '--candidate',
    'claude',
    '--turns',
    '2',
  ]);
  expect([done.exit, done.stderr]).toEqual([
    2,
    expect.stringContaining("has no candidate 'claude'; it has codex, opencode"),
  ]);
});

test.each([
  ['crash', /agent 'small' ended with status 3; it says: kaput: no such thing \(crash\)/],
  ['home', /agent 'small' tries to reach 'telemetry\.example\.com:443'; .* \(network\)/],
  ['child', /agent 'small' left processes behind: 'sleep' .* \(left-behind\)/],
])(
  'an agent that misbehaves (%s) ends its session cleanly',
  (wrong, says) => {
    const cwd = join(base, wrong);
    const mine = join(cwd, 'mine');
    mkdirSync(join(mine, 'arms/small'), { recursive: true });
    cpSync(join(root, 'shared/workloads/lib'), join(mine, 'lib'), { recursive: true });
    cpSync(join(root, 'node_modules/@xterm/headless'), join(mine, 'lib/node_modules/@xterm/headless'), {
      recursive: true,
      dereference: true,
    });
    cpSync(join(root, 'fixtures/agents/small.mjs'), join(mine, 'arms/small/small.mjs'));
    const settings = JSON.parse(readFileSync(join(root, 'fixtures/agents/small.json'), 'utf8')) as {
      env: object;
    };
    const write = (name: string, misbehave: string) =>
      writeFileSync(
        join(mine, `${name}.json`),
        JSON.stringify({ ...settings, env: { ...settings.env, MISBEHAVE: misbehave } }),
      );
    write('good', '');
    write('bad', wrong);
    const words = (step: string, name: string) => [
      'bun',
      '{root}/lib/agent/main.ts',
      step,
      '--agent',
      `{root}/${name}.json`,
      '--arm',
      '{root}/arms/small',
      '--dir',
      '{dir}',
      '--turns',
      '{turns}',
      '--scenarios',
      'print,print-tools',
    ];
    const target = (name: string, role: string) => ({
      name,
      role,
      seed: words('seed', name),
      seedMeta: '{dir}/seed.json',
      sample: words('sample', name),
    });
    writeFileSync(
      join(cwd, 'profile.json'),
      JSON.stringify({
        name: 'small',
        rule: 'small',
        about: '',
        targets: [target('good', 'reference'), target('bad', 'candidate')],
      }),
    );
    const done = k8sbench(
      cwd,
      [
        'compare',
        '--local',
        '--bundle',
        'mine',
        '--profile',
        'profile.json',
        '--turns',
        '2',
        '--rounds',
        '3',
        '--allow-frequency-scaling',
      ],
      path(),
    );
    expect([done.exit, done.stdout, done.stderr]).toEqual([1, '', expect.stringMatching(says)]);
    const run = onlyRun(join(cwd, 'out'));
    // The log is whole to its end, and says why.
    const lines = readFileSync(join(run, 'pod.log'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { t: string });
    expect(lines.slice(-2).map((one) => one.t)).toEqual(['error', 'end']);
    expect(JSON.parse(readFileSync(join(run, 'job.json'), 'utf8'))).toMatchObject({ outcome: 'failed' });
    expect(markedProcesses('MISBEHAVE', wrong)).toEqual([]);
  },
  120_000,
);
