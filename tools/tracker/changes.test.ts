/** Change points and bisection through the program: on histories whose truth was made, in a repository of their own. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { bisectStep, change } from '../../schemas/changes.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-changes-'));
const repository = join(scratch, 'repository');
afterAll(() => rmSync(scratch, { recursive: true }));

const ENV = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};
const git = (...args: string[]): string => {
  const done = Bun.spawnSync(['git', '-C', repository, ...args], { env: ENV });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
  return done.stdout.toString().trim();
};

/** Forty commits, oldest first. */
let commits: string[] = [];
beforeAll(() => {
  mkdirSync(repository);
  git('init', '-q', '-b', 'main');
  for (let at = 0; at < 40; at++) git('commit', '-q', '--allow-empty', '-m', String(at));
  commits = git('rev-list', '--reverse', 'HEAD').split('\n');
});

const TYPE = { cpuModel: 'CPU', cpuFeatures: 'avx', gomaxprocs: 2 };

interface Run {
  at: number;
  ratio: number;
  commit?: string;
  purpose?: string | null;
  cpuModel?: string;
  turns?: number;
  metric?: string;
  counted?: 'processes';
}

/** Noise of ±0.5 % that is even in every stretch: a draw would show a change by chance, one time in twenty. */
const wobble = (at: number): number => Math.exp(0.01 * (((at * 0.6180339887) % 1) - 0.5));

const lineOf = ({
  at,
  ratio,
  commit = '',
  purpose = 'main',
  cpuModel = 'CPU',
  turns = 50,
  metric = 'warm',
  counted,
}: Run) => {
  const values = { warm: 10 * ratio * wobble(at), piWarm: 10, cold: 30 * wobble(at + 7), piCold: 30 };
  return {
    at: new Date(Date.UTC(2026, 0, 1) + at * 3_600_000).toISOString(),
    rule: 'store',
    warmTurns: 9,
    core: commit.slice(0, 10),
    turns,
    fingerprint: 'f',
    run: `run-${at}`,
    baseline: 'none',
    values: { warm: 10, piWarm: 10 },
    delta: {},
    compare: {},
    disagree: [],
    summary: '',
    more: {
      values,
      nodeType: { ...TYPE, cpuModel },
      nodes: ['n'],
      candidate: 'mine',
      reference: 'theirs',
      identities: { mine: { commit } },
      ...(purpose === null ? {} : { purpose }),
      ...(counted === undefined ? {} : { counted }),
      conclusions: [{ metric }],
    },
  };
};

let files = 0;
const track = (lines: readonly object[]): string => {
  const path = join(scratch, `track-${files++}.jsonl`);
  writeFileSync(path, lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
  return path;
};

const tracker = async (path: string, verb: string, ...flags: string[]) => {
  const done = await runTool(main, [verb, '--track', path, ...flags], { cwd: repository, env: ENV });
  const lines = flags.includes('--json')
    ? done.stdout
        .split('\n')
        .filter((one) => one !== '')
        .map((one) => JSON.parse(one))
    : [];
  for (const one of lines) expect(v.is(verb === 'changes' ? change : bisectStep, one)).toBe(true);
  return { ...done, lines };
};

/** Runs of all commits in a random order of time; from commit 25 on 10 % slower. */
const stepped = (more: Partial<Run> = {}) =>
  commits.map((commit, at) => lineOf({ at: (at * 17) % 40, commit, ratio: at < 25 ? 0.9 : 0.99, ...more }));

test('sizes of plain commands are processes, in every table and in the lines', async () => {
  const [commands, both] = [
    track(stepped({ counted: 'processes' })),
    track([...stepped({ counted: 'processes' }), ...stepped({ turns: 500 })]),
  ];
  for (const verb of ['changes', 'bisect', 'show']) {
    expect((await tracker(commands, verb)).stdout).toMatch(/^(at +)?rule +processes /);
    expect((await tracker(both, verb)).stdout).toMatch(/^(at +)?rule +size /);
  }
  for (const verb of ['changes', 'bisect'])
    expect((await tracker(both, verb, '--json')).lines.map((one) => [one.turns, one.counted])).toEqual([
      [50, 'processes'],
      [500, undefined],
    ]);
});

test('a run whose newest line is broken after its head counts by the line before', async () => {
  const lines = stepped();
  const path = track(lines);
  const newest = JSON.stringify(lines[24]).replace('"more":{', '"more":{,');
  appendFileSync(path, `${newest}\n`);
  const whole = await tracker(track(lines), 'changes', '--json');
  for (const verb of ['changes', 'bisect']) {
    const { exit, lines: found, stderr } = await tracker(path, verb, '--json');
    expect([exit, found.length]).toEqual([0, 1]);
    expect(stderr).toContain('the line is left out');
    if (verb === 'changes') expect(found).toEqual(whole.lines);
  }
  const none = await tracker(track([lineOf({ at: 1, ratio: 1, commit: commits[1]! })]), 'changes');
  expect(none.stderr).toContain('up to 1 run');
});

test('what of other purposes is left out is told with flags that the verb takes', async () => {
  const path = track(stepped({ purpose: 'pr' }));
  expect((await tracker(path, 'changes')).stderr).toContain("'--purpose' here asks for another");
  const { stderr } = await tracker(path, 'bisect');
  expect(stderr).toContain("left out; 'tracker append --purpose' names it\n");
  expect(stderr).not.toContain("'--purpose' here");
});

describe('tracker changes', () => {
  test('finds the commit after which the ratio is another, in commit order, whenever the runs were made', async () => {
    const { lines, exit } = await tracker(track(stepped()), 'changes', '--json');
    expect(exit).toBe(0);
    expect(lines).toHaveLength(1);
    const [found] = lines;
    expect(found).toMatchObject({
      rule: 'store',
      turns: 50,
      metric: 'warm',
      order: 'commit',
      runs: 40,
      before: { commit: commits[24] },
      after: { commit: commits[25] },
    });
    expect(found.step).toBeCloseTo(1.1, 2);
    expect(found.after.ratio / found.before.ratio).toBeCloseTo(found.step, 10);
  });

  test('as a table names both commits, and --fail-on change ends with 4', async () => {
    const path = track(stepped());
    const { stdout, exit } = await tracker(path, 'changes', '--fail-on', 'change');
    expect(exit).toBe(4);
    expect(stdout).toContain(`${commits[24]!.slice(0, 10)}   ${commits[25]!.slice(0, 10)}`);
    expect(stdout).toMatch(/store +50 +warm +0\.\d+ +0\.\d+ +\+\d+\.\d %/);
    expect(stdout).toMatch(/^rule +turns +metric/);
    expect((await tracker(path, 'changes', '--fail-on', 'change', '--within', '10')).exit).toBe(0);
    expect((await tracker(path, 'changes', '--fail-on', 'change', '--within', '15')).exit).toBe(4);
  });

  test('a history without a change has none, and does not fail', async () => {
    const path = track(commits.map((commit, at) => lineOf({ at, commit, ratio: 1 })));
    const { exit, stdout, stderr } = await tracker(path, 'changes', '--fail-on', 'change');
    expect([exit, stdout]).toEqual([0, '']);
    expect(stderr).toContain('no change in 1 history of up to 40 runs');
  });

  test('histories of other machines, sizes and purposes are apart', async () => {
    const other = commits.map((commit, at) =>
      lineOf({ at: 100 + at, commit, ratio: 1, cpuModel: 'Another' }),
    );
    const pr = commits.map((commit, at) => lineOf({ at: 200 + at, commit, ratio: at, purpose: 'pr' }));
    const unnamed = lineOf({ at: 300, ratio: 5, purpose: null });
    const { lines, stderr } = await tracker(
      track([...stepped(), ...other, ...pr, unnamed, { ...lineOf({ at: 400, ratio: 3 }), more: undefined }]),
      'changes',
      '--json',
    );
    expect(lines.map((one) => one.nodeType)).toEqual(['CPU [avx] GOMAXPROCS 2']);
    expect(stderr).toContain('41 lines of other purposes than main left out');
    expect(stderr).toContain('1 line without exact values left out');
  });

  test('the metrics are those that conclusions are about, or as asked', async () => {
    expect((await tracker(track(stepped({ metric: 'cold' })), 'changes', '--json')).lines).toEqual([]);
    const path = track(stepped({ metric: 'cold' }));
    expect((await tracker(path, 'changes', '--json', '--metric', 'warm')).lines).toHaveLength(1);
  });

  test('commits of another repository are read in the order of time', async () => {
    const path = track(
      Array.from({ length: 40 }, (_, at) =>
        lineOf({ at, commit: String(at).padStart(40, 'a'), ratio: at < 20 ? 1 : 1.2 }),
      ),
    );
    const { lines, stderr } = await tracker(path, 'changes', '--json');
    expect(lines).toMatchObject([{ order: 'time', after: { run: 'run-20' } }]);
    expect(stderr).toContain("1 of 1 histories with commits that this repository doesn't have");
  });

  test('a run that was reported again counts once, by its newest line', async () => {
    const again = commits.map((commit, at) => lineOf({ at: (at * 17) % 40, commit, ratio: 1 }));
    const lines = stepped().concat(again);
    expect((await tracker(track(lines), 'changes', '--json')).lines).toEqual([]);
  });
});

/** The first nine commits and the last nine were measured. */
const sparse = (more: readonly object[] = []) =>
  track([
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 31, 32, 33, 34, 35, 36, 37, 38, 39].map((at) =>
      lineOf({ at, commit: commits[at]!, ratio: at < 25 ? 0.9 : 0.99 }),
    ),
    ...more,
  ]);

describe('tracker bisect', () => {
  test('names the commit in the middle of those that were not measured', async () => {
    const { lines } = await tracker(sparse(), 'bisect', '--json');
    expect(lines).toMatchObject([
      { good: commits[8], bad: commits[31], next: commits[19], between: 22, runs: 1, metric: 'warm' },
    ]);
    const { stdout, stderr } = await tracker(sparse(), 'bisect');
    expect(stdout).toContain(commits[19]!.slice(0, 10));
    expect(stderr).toContain("'--purpose bisect'");
  });

  test('followed to its end it finds the commit', async () => {
    const measured: object[] = [];
    for (let asked = 0; asked < 10; asked++) {
      const [found] = (await tracker(sparse(measured), 'bisect', '--json')).lines;
      if (found.next === null) {
        expect(found).toMatchObject({ good: commits[24], bad: commits[25], between: 0 });
        return;
      }
      const at = commits.indexOf(found.next);
      measured.push(
        lineOf({ at: 100 + asked, commit: found.next, ratio: at < 25 ? 0.9 : 0.99, purpose: 'bisect' }),
      );
    }
    throw new Error('it did not end');
  });

  test('needs the repository', async () => {
    const done = await runTool(main, ['bisect', '--track', sparse()], { cwd: scratch, env: ENV });
    expect([done.exit, done.stdout]).toEqual([2, '']);
    expect(done.stderr).toContain("'tracker bisect' names commits of a repository, and here is none");
  });
});

test('each verb takes its own flags', async () => {
  const { exit, stderr } = await tracker(track([]), 'bisect', '--fail-on', 'change', '--within', '3');
  expect(exit).toBe(2);
  expect(stderr).toContain("'tracker bisect' takes no flag '--fail-on'");
  expect(stderr).toContain("'tracker bisect' takes no flag '--within'");
});
