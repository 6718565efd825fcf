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
import { createServer, type Server } from 'node:net';
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

/** Somebody on this machine who is not the model. */
let elsewhere: Server;
beforeAll(async () => {
  elsewhere = createServer();
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void elsewhere.close());

/** What an agent does wrong → how the session's message tells it. */
test.each<[wrong: string, says: RegExp, limit?: string]>([
  ['crash', /agent 'small' ended with status 3; it says: kaput: no such thing \(crash\)/],
  ['signal', /agent 'small' was ended by SIGSEGV.* \(crash\)/],
  ['hang', /agent 'small' hangs: it took longer than 6 s; it says: Continue\? \[y\/N\] \(hang\)/, '6'],
  ['login', /agent 'small' asks for a login, and ended with status 1; .*Please log in.* \(login\)/],
  ['login-well', /agent 'small' asks for a login instead of an answer; .* \(login\)/],
  ['update', /agent 'small' changed its own installation: .* \(update\)/],
  ['shop', /agent 'small' tries to reach 'registry\.npmjs\.org:443', where programs .* \(update\)/],
  ['home', /agent 'small' tries to reach 'telemetry\.example\.com:443'; .* \(network\)/],
  ['connect', /agent 'small' connected to 127\.0\.0\.1:\d+ \(tcp\), .* \(network\)/],
  ['datagram', /agent 'small' opened a socket that may send to anyone .* \(network\)/],
  ['writes', /agent 'small' writes to '.*small-was-here', outside of its home \(writes\)/],
  ['leaves', /agent 'small' left '.*was-here' outside of its home \(writes\)/],
  ['escapes', /agent 'small' prints escape sequences .*: "\\u001b\]0;mine.* \(escapes\)/],
  ['escapes-aside', /agent 'small' prints escape sequences .* \(escapes\)/],
  ['answer', /agent 'small' does not print the model's answer .* \(answer\)/],
  ['child', /agent 'small' left processes behind: 'sleep' .* \(left-behind\)/],
])(
  'an agent that misbehaves (%s) ends its session cleanly',
  (wrong, says, limit = '60') => {
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
        JSON.stringify({
          ...settings,
          env: {
            ...settings.env,
            MISBEHAVE: misbehave,
            ELSEWHERE: String((elsewhere.address() as { port: number }).port),
          },
        }),
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
      '--limit',
      limit,
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
    // Nothing of a terminal in what is kept of it.
    expect(readFileSync(join(run, 'pod.log'), 'utf8')).not.toContain('\u001b');
  },
  120_000,
);
