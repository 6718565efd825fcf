/** The oracles can say no: each complaint is made to come once, and a second reader that is lied to finds it. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { campaign } from './campaign.ts';
import { complaintsOf, type Result } from './oracle.ts';
import { makeScene } from './scene.ts';
import * as twin from './twins.ts';

const result = (change: Partial<Result>): Result => ({ exit: 0, stdout: '', stderr: '', ms: 1, ...change });

test.each<[string, Partial<Result>, string]>([
  [
    'a stack',
    { exit: 1, stderr: 'x: this is a bug in k8sbench; please report it:\nError\n    at f (a.ts:1:1)\n' },
    'a stack',
  ],
  ['a status of its own', { exit: 42, stderr: 'x' }, 'exit status 42'],
  ['output of a failure', { exit: 1, stdout: '{}', stderr: 'x' }, 'exit 1, and on stdout {}'],
  ['a failure without a word', { exit: 2 }, 'exit 2 without a word'],
  ['an escape', { exit: 2, stderr: 'name \u001b[2J' }, 'raw control characters'],
  ['a name that reads backwards', { stderr: 'a\u202eb' }, 'raw control characters'],
  ['a book', { exit: 2, stderr: 'x'.repeat(60_000) }, '60000 characters on stderr'],
  ['a long wait', { ms: 60_000 }, 'took 60000 ms'],
])('%s is complained of', (_, change, complaint) => {
  expect(complaintsOf(result(change))).toEqual([expect.stringContaining(complaint)]);
  expect(complaintsOf(result({ exit: 2, stderr: "plan: error: 'x' is not there\n" }))).toEqual([]);
});

describe('second readers', () => {
  const log = readFileSync(resolve(import.meta.dir, '../../fixtures/example/pod.log'));
  const altered = Buffer.from(log.toString().replace('"open":', '"open": '));
  const profile = { name: 'a', rule: 'a', about: '', targets: [{ name: 'n', role: 'pig' }] };
  const filled = { ...profile, fingerprints: {}, metrics: [], targets: [{ name: 'n', role: 'candidate' }] };
  const history = '{"at":"2026-01-02T03:04:05Z","rule":"r","turns":1,"run":"a","values":{}}';
  const line = { delta: { warm: '+10%' }, more: { values: { warm: 11 } } };
  test.each<[string, string[], string[]]>([
    [
      'profile',
      twin.profileProblems(Buffer.from(JSON.stringify(profile)), JSON.stringify(filled)),
      twin.profileProblems(Buffer.from(JSON.stringify(profile)), JSON.stringify({ ...filled, rule: 'b' })),
    ],
    [
      'repeated keys',
      [],
      twin.profileProblems(
        Buffer.from('{"name":"b",' + JSON.stringify(profile).slice(1)),
        JSON.stringify(filled),
      ),
    ],
    [
      'values',
      twin.valuesProblems(Buffer.from('cpus: 4\n'), JSON.stringify(twin.filledValues({ cpus: 4 }))),
      twin.valuesProblems(Buffer.from('cpus: 4\n'), JSON.stringify(twin.filledValues({ cpus: 5 }))),
    ],
    [
      'an altered log',
      twin.alteredLogProblems(log, altered, result({ exit: 1 })),
      twin.alteredLogProblems(log, altered, result({})),
    ],
    [
      'a log as it was',
      twin.alteredLogProblems(log, log, result({})),
      twin.alteredLogProblems(log, log, result({ exit: 1 })),
    ],
    [
      'history',
      twin.historyProblems(
        Buffer.from(`${history}\nx\n`),
        result({ stdout: `${history}\n` }),
        (value) => value !== undefined,
      ),
      twin.historyProblems(
        Buffer.from(`${history}\nx\n`),
        result({ stdout: '' }),
        (value) => value !== undefined,
      ),
    ],
    [
      'baseline',
      twin.baselineProblems(Buffer.from('{"warm": 10}'), JSON.stringify(line)),
      twin.baselineProblems(Buffer.from('{"warm": 5}'), JSON.stringify(line)),
    ],
    [
      'manifest',
      twin.manifestProblems(
        Buffer.from('a\nb\n'),
        result({ stderr: 'measured already' }),
        Buffer.from('b\na\n'),
      ),
      twin.manifestProblems(
        Buffer.from('a\n'),
        result({ stderr: 'measured already' }),
        Buffer.from('b\na\n'),
      ),
    ],
  ])('of %s', (_, fine, wrong) => {
    expect(fine).toEqual([]);
    expect(wrong).toHaveLength(1);
  });
});

test('a campaign that dies is no campaign that passed', async () => {
  const { problem, inputs } = await campaign('no such reader', 1, 1);
  expect([inputs, problem]).toEqual([0, expect.stringContaining('ended after input')]);
});

test('a scene finds what is left in it', async () => {
  const scene = makeScene('left', 'cmp-left');
  const child = Bun.spawn(['sleep', '30'], { env: { ...process.env, K8SBENCH_TEST_SCENE: scene.mark } });
  await Bun.write(scene.file('tmp/data'), 'x');
  await Bun.write(scene.file('work/out/run.json.1.tmp'), 'x');
  expect(scene.leftovers().map((one) => one.split(' ')[0])).toEqual(['process', 'temporary', 'half-written']);
  child.kill('SIGKILL');
  await child.exited;
  scene.remove();
});
