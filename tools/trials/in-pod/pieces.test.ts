/** What gate and trial are made of, each by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { trialLine } from '../../../schemas/trial-line.ts';
import { ARMS } from '../arms.ts';
import { cpuMs } from './cpu-time.ts';
import { clear, opened, put, readForeign, sealed } from './exchange.ts';
import { lineOf, messageOf, NOTHING, type Report, reportOf, tame } from './line.ts';
import { lookAround, plantedIn } from './surroundings.ts';
import { Transcript } from './transcript.ts';
import { rewardIn } from './verifier.ts';

let base: string;
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'k8sbench-pieces-'));
});
afterAll(() => rmSync(base, { recursive: true }));
let made = 0;
const directory = (): string => {
  const path = join(base, String(++made));
  mkdirSync(path);
  return path;
};

describe('a message', () => {
  const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  test('opens with its key and kind alone', () => {
    const message = sealed(key, 'request', { nonce: 'x' });
    expect(opened(key, 'request', message)).toEqual({ nonce: 'x' });
    expect(opened(other, 'request', message)).toBeUndefined();
    expect(opened(key, 'result', message)).toBeUndefined();
    expect(opened(key, 'request', message.replace('x', 'y'))).toBeUndefined();
  });
  test.each(['', 'null', '[]', '{}', '{"text":1,"code":2}', '{"text":"{}","code":""}', 'x'.repeat(100)])(
    'is none: %j',
    (text) => expect(opened(key, 'request', text)).toBeUndefined(),
  );
});

describe('a file of somebody', () => {
  test.each<[string, (path: string) => void, object]>([
    ['is not there', () => {}, { is: 'nothing' }],
    ['is a text', (path) => writeFileSync(path, 'hi'), { is: 'text', text: 'hi' }],
    ['is empty', (path) => writeFileSync(path, ''), { is: 'text', text: '' }],
    ['is a link', (path) => symlinkSync('/etc/passwd', path), { is: 'planted' }],
    ['is a link to nowhere', (path) => symlinkSync('/nowhere', path), { is: 'planted' }],
    ['is a directory', (path) => mkdirSync(path), { is: 'planted' }],
    ['is a pipe', (path) => void Bun.spawnSync(['mkfifo', path]), { is: 'planted' }],
    [
      'has two names',
      (path) => {
        writeFileSync(`${path}.other`, 'x');
        linkSync(`${path}.other`, path);
      },
      { is: 'planted' },
    ],
    [
      'is long',
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, 1 << 30);
      },
      { is: 'planted' },
    ],
  ])('%s', (_, make, wanted) => {
    const path = join(directory(), 'request.json');
    make(path);
    expect(readForeign(path)).toMatchObject(wanted);
  });

  test('is replaced, whatever it was, and what a link led to stays', () => {
    const at = directory();
    const kept = join(at, 'kept');
    writeFileSync(kept, 'kept');
    for (const make of [
      (path: string) => symlinkSync(kept, path),
      (path: string) => mkdirSync(join(path, 'deep'), { recursive: true }),
    ]) {
      make(join(at, 'x'));
      make(join(at, '.x.new'));
      put(at, 'x', 'new');
      expect(readForeign(join(at, 'x'))).toEqual({ is: 'text', text: 'new' });
      expect(readForeign(kept)).toEqual({ is: 'text', text: 'kept' });
      rmSync(join(at, 'x'));
    }
    clear(at);
    expect(readForeign(kept)).toEqual({ is: 'nothing' });
  });
});

describe('a report', () => {
  const about = { task: 't', arm: 'a', attempt: 1, model: 'm', image: 'i' };
  const good: Report = {
    ...NOTHING,
    reward: 1,
    agentExit: 0,
    agentWallMs: 5,
    usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, totalTokens: 10 },
  };
  test('comes through as it is', () => expect(reportOf({ ...good })).toEqual(good));

  test.each<[string, unknown, object]>([
    ['nothing', null, { reward: null, fault: 'infrastructure' }],
    ['a list', [1], { reward: null, fault: 'infrastructure' }],
    ['a text as reward', { ...good, reward: '1' }, { reward: null, fault: 'infrastructure' }],
    [
      'a reward beside an error',
      { ...good, error: 'x', fault: 'agent' },
      { reward: null, error: 'x', fault: 'agent' },
    ],
    [
      'a fault that is none',
      { ...good, reward: null, error: 'x', fault: 'nobody' },
      { fault: 'infrastructure' },
    ],
    [
      'times that are none',
      { ...good, agentWallMs: -1, agentCpuMs: 'x', agentExit: 1.5 },
      { agentWallMs: null, agentCpuMs: null, agentExit: null },
    ],
    [
      'a sum that is wrong',
      { ...good, usage: { ...good.usage, totalTokens: 5 } },
      { usage: { totalTokens: 10 } },
    ],
    ['usage without a part', { ...good, usage: { input: 1 } }, { usage: null }],
    ['another task', { ...good, task: 'other', t: 'x' }, { reward: 1 }],
  ])('%s', (_, value, wanted) => {
    const report = reportOf(value);
    expect(report).toMatchObject(wanted);
    expect(report).not.toHaveProperty('task');
    expect(v.safeParse(trialLine, JSON.parse(lineOf(about, report))).issues).toBeUndefined();
  });

  test('is cut to what a termination message holds, and is a line all the same', () => {
    const long = 'ü"\\'.repeat(5000);
    const report = reportOf({
      ...good,
      agentExit: 1,
      agentError: long,
      notes: [long, long, long, long, long],
    });
    const message = messageOf(about, report);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4096);
    expect(v.safeParse(trialLine, JSON.parse(message)).issues).toBeUndefined();
    expect(JSON.parse(message).reward).toBe(1);
    const failed = messageOf(about, reportOf({ error: long, agentError: long, fault: 'agent' }));
    expect(JSON.parse(failed)).toMatchObject({ reward: null, fault: 'agent' });
  });

  test('holds nothing that a terminal obeys', () =>
    expect(tame('a\u001b[2J\u0007\r\u202eb\u0000\ud800\nc', 100)).toBe('a [2J   b \ufffd\nc'));
});

describe('a transcript', () => {
  const counted = (arm: string, lines: readonly unknown[], cut = 7) => {
    const transcript = new Transcript(ARMS[arm]!.transcript);
    const bytes = Buffer.from(
      lines.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join(''),
    );
    for (let at = 0; at < bytes.length; at += cut) transcript.take(bytes.subarray(at, at + cut));
    return transcript.counted;
  };
  const usage = { input: 100, output: 10, cacheRead: 5, cacheWrite: 1, totalTokens: 116 };

  test('of pi: each message adds', () =>
    expect(
      counted('pi', [
        { type: 'session' },
        { type: 'message_end', message: { role: 'user', usage } },
        { type: 'message_end', message: { role: 'assistant', usage } },
        'not JSON {',
        '{"type":"message_end","message":',
        { type: 'message_end', message: { role: 'assistant', usage } },
      ]),
    ).toEqual({
      assistantMessages: 2,
      usage: { input: 200, output: 20, cacheRead: 10, cacheWrite: 2, totalTokens: 232 },
    }));

  test('of codex: cached tokens are no input', () =>
    expect(
      counted('codex', [
        { type: 'item.completed', item: { type: 'agent_message' } },
        { type: 'item.completed', item: { type: 'command_execution' } },
        { type: 'turn.completed', usage: { input_tokens: 100, cached_input_tokens: 30, output_tokens: 7 } },
      ]),
    ).toEqual({
      assistantMessages: 1,
      usage: { input: 70, output: 7, cacheRead: 30, cacheWrite: 0, totalTokens: 107 },
    }));

  test('without usage, with nonsense, with a line of megabytes', () => {
    expect(counted('pi', [])).toEqual({ assistantMessages: 0, usage: null });
    expect(
      counted('pi', [
        { type: 'message_end', message: { role: 'assistant', usage: { input: 'x', output: -5 } } },
      ]).usage,
    ).toMatchObject({ input: 0, output: 0 });
    const long = { type: 'message_end', message: { role: 'assistant', text: 'x'.repeat(9 << 20) } };
    expect(counted('pi', [long], 1 << 16).assistantMessages).toBe(0);
  });

  test('of an arm that has none', () =>
    expect(new Transcript(undefined).counted).toEqual({ assistantMessages: null, usage: null }));
});

describe('a reward', () => {
  test.each<[string, Record<string, string>, object]>([
    ['1', { 'reward.txt': '1\n' }, { reward: 1 }],
    ['0', { 'reward.txt': '0' }, { reward: 0 }],
    ['a part', { 'reward.txt': ' 0.25 ' }, { reward: 0.25 }],
    ['JSON', { 'reward.json': '{"reward": 1, "more": 2}' }, { reward: 1 }],
    ['JSON of one number', { 'reward.json': '{"score": 0.5}' }, { reward: 0.5 }],
    ['JSON that is a number', { 'reward.json': '1' }, { reward: 1 }],
    ['the text before JSON', { 'reward.txt': '0', 'reward.json': '{"reward":1}' }, { reward: 0 }],
    ['nothing', {}, { error: 'the verifier wrote no reward' }],
    ['NaN', { 'reward.txt': 'nan' }, { error: expect.stringContaining('is no number') }],
    ['Infinity', { 'reward.json': '{"reward":1e999}' }, { error: expect.stringContaining('is no number') }],
    ['empty', { 'reward.txt': '' }, { error: expect.stringContaining('is no number') }],
    ['two numbers', { 'reward.json': '{"a":1,"b":0}' }, { error: expect.stringContaining('is no number') }],
    [
      'a text as number',
      { 'reward.json': '{"reward":"1"}' },
      { error: expect.stringContaining('is no number') },
    ],
    ['hex', { 'reward.txt': '0x1' }, { error: expect.stringContaining('is no number') }],
    ['too long', { 'reward.txt': '1'.repeat(5000) }, { error: 'the verifier wrote no reward' }],
  ])('%s', (_, files, wanted) => {
    const at = directory();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(at, name), text);
    expect(rewardIn(at)).toEqual(wanted as never);
  });
});

describe('surroundings', () => {
  const around = (change: (root: string) => void, tests: string[] = ['run pytest solve']): string[] => {
    const root = `${directory()}/`;
    for (const one of ['usr/bin', 'usr/lib/python3', 'etc', 'root', 'app'])
      mkdirSync(join(root, one), { recursive: true });
    for (const one of ['usr/bin/python3', 'usr/lib/libc.so', 'usr/lib/python3/os.py', 'etc/passwd'])
      writeFileSync(join(root, one), 'image');
    const env = { PATH: join(root, 'usr/bin'), HOME: join(root, 'root') };
    const look = () => lookAround(env, join(root, 'app'), root);
    const before = look();
    change(root);
    return plantedIn(before, look(), tests).map((one) => one.replaceAll(root, '/'));
  };
  const write =
    (path: string, text = 'x') =>
    (root: string): void => {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    };

  test.each<[string, (root: string) => void, string[]]>([
    ['nothing', () => {}, []],
    ['work in its place', write('app/solution.py'), []],
    ['work with tests of its own', write('app/tests/conftest.py'), []],
    ['a tool that no test names', write('usr/bin/rg'), []],
    ['a package without plug-ins', write('usr/lib/python3/numpy/__init__.py'), []],
    ['a user', write('etc/passwd', 'more'), []],
    ["the linker's cache", write('etc/ld.so.cache'), []],
    ['compiled code', write('usr/lib/python3/__pycache__/os.pyc'), []],
    ["a shell's settings", write('root/.bashrc'), []],
    [
      'a tool that the tests name',
      write('usr/bin/pytest'),
      ["'/usr/bin/pytest' is new, and the tests name it"],
    ],
    ['a command', write('usr/bin/python3', 'agent'), ["the command '/usr/bin/python3' was changed"]],
    [
      'a removed command',
      (root) => rmSync(join(root, 'usr/bin/python3')),
      ["the command '/usr/bin/python3' was changed"],
    ],
    ['a library', write('usr/lib/libc.so', 'agent'), ["the file '/usr/lib/libc.so' was changed"]],
    [
      'the standard library',
      write('usr/lib/python3/os.py', 'agent'),
      ["the file '/usr/lib/python3/os.py' was changed"],
    ],
    [
      'sitecustomize',
      write('usr/lib/python3/sitecustomize.py'),
      ["'/usr/lib/python3/sitecustomize.py' is new, and loaded by itself"],
    ],
    [
      'a package with a plug-in',
      write('usr/lib/python3/x.dist-info/entry_points.txt', '[pytest11]\nx=x'),
      ["'/usr/lib/python3/x.dist-info/entry_points.txt' is new, and loaded by itself"],
    ],
    ['a package without', write('usr/lib/python3/x.dist-info/entry_points.txt', '[console_scripts]'), []],
    [
      'settings of an installer',
      write('root/.config/pip/pip.conf'),
      ["'/root/.config/pip/pip.conf' is new, and loaded by itself"],
    ],
    ['names of hosts', write('etc/hosts'), ["'/etc/hosts' is new, and loaded by itself"]],
    ['settings for tests at the top', write('pytest.ini'), ["'/pytest.ini' is new, and loaded by itself"]],
    [
      'a module that hides the runner',
      write('app/pytest.py'),
      ["'/app/pytest.py' is new, and loaded by itself"],
    ],
  ])('%s', (_, change, wanted) => expect(around(change)).toEqual(wanted));
});

describe('CPU time', () => {
  test.each<[string, Record<string, string>, number | null]>([
    ['v2', { 'cpu.stat': 'usage_usec 1500\nuser_usec 1\n' }, 1.5],
    ['v1', { 'cpuacct/cpuacct.usage': '2500000\n' }, 2.5],
    ['v1, joint', { 'cpu,cpuacct/cpuacct.usage': '3000000\n' }, 3],
    ['nothing', {}, null],
    ['nonsense', { 'cpu.stat': 'usage_usec x\n' }, null],
  ])('%s', (_, files, wanted) => {
    const at = directory();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(at, name, '..'), { recursive: true });
      writeFileSync(join(at, name), text);
    }
    expect(cpuMs(at)).toBe(wanted);
  });
});
