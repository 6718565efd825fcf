/** The verbs that deal with results, on files: what they refuse, keep and print. */
import { afterAll, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import type { Trials } from '../../schemas/trials.ts';
import { sha256 } from '../../shared/files.ts';
import { jsonText } from '../../shared/read.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import { formatYaml } from '../../shared/yaml-format.ts';
import { runTool } from '../../test/outside.ts';
import { documentsOf } from './apply/documents.ts';
import { toSubmit, unfinished } from './apply/plan.ts';
import { queued } from './apply/queue.ts';
import type { SeenJob } from './collect/observe.ts';
import { main } from './main.ts';
import { addLines, knownOf, readLines } from './trials-file.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-trials-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const IMAGE = `registry.example/task@sha256:${'a'.repeat(64)}`;
const NAMES = [1, 2].flatMap((attempt) => ['a', 'b'].map((task) => ({ task, attempt })));

const line = (
  task: string,
  attempt: number,
  more: Partial<TrialLine> & { jobUid?: string } = {},
): TrialLine => ({
  t: 'trial',
  task,
  arm: 'pi',
  attempt,
  model: 'm',
  image: IMAGE,
  reward: 1,
  agentExit: 0,
  agentWallMs: 1,
  agentCpuMs: 1,
  assistantMessages: 1,
  usage: null,
  verifierExit: 0,
  verifierWallMs: 1,
  ...more,
});
const lost = (task: string, attempt: number, jobUid: string): TrialLine =>
  line(task, attempt, { reward: null, error: 'its node is gone', fault: 'infrastructure', jobUid });

const kubeconfig = join(scratch, 'kubeconfig');
writeFileSync(
  kubeconfig,
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }),
);

let places = 0;
const made = (lines?: readonly TrialLine[]): { run: RunDirectory; trials: Trials } => {
  const name = `run-${++places}`;
  const run = runDirectory(join(scratch, name), name);
  mkdirSync(run.path);
  const documents = NAMES.map((_, at) =>
    formatYaml({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: `${name}-${at}`, namespace: 'ns', labels: { 'app.kubernetes.io/part-of': name } },
      spec: { template: { spec: { containers: [{ name: 'gate', command: ['sh', '-c', 'a\n---\nb\n'] }] } } },
    }),
  );
  const trials: Trials = {
    format: 'trials/1',
    run: name,
    namespace: 'ns',
    model: { id: 'm', pin: '1'.repeat(64), url: 'http://m:8000/v1' },
    staged: '2'.repeat(64),
    dataset: { name: 'd', commit: '3'.repeat(40) },
    inputs: {},
    tasks: ['a', 'b'],
    arms: ['pi'],
    attempts: 2,
    relaxed: [],
    trials: NAMES.map(({ task, attempt }, at) => ({
      job: `${name}-${at}`,
      task,
      arm: 'pi',
      attempt,
      image: IMAGE,
      sha256: sha256(documents[at]!),
      limit_s: 60,
    })),
  };
  writeFileSync(run.file('trials.json'), jsonText(trials));
  writeFileSync(run.file('trials.yaml'), documents.join('---\n'));
  if (lines) writeFileSync(run.file('trials.jsonl'), lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
  return { run, trials };
};

const trialsTool = (...words: string[]) =>
  runTool(main, words, { cwd: scratch, env: { KUBECONFIG: kubeconfig } });

describe('score', () => {
  const four = NAMES.map(({ task, attempt }) => line(task, attempt));

  test('of a run is written, told, and its path printed', async () => {
    const { run } = made(four);
    const { exit, stdout, stderr } = await trialsTool('score', '--run', run.name);
    expect([exit, stdout]).toEqual([0, `${run.name}\n`]);
    expect(stderr).toContain('4 trials of 2 tasks by 1 arm: 4 solved, 0 failed, 0 without verdict');
    const score = JSON.parse(readFileSync(run.file('trials-score.json'), 'utf8'));
    expect(score.inputs).toEqual({
      'trials.json': sha256(readFileSync(run.file('trials.json'))),
      'trials.jsonl': sha256(readFileSync(run.file('trials.jsonl'))),
    });
    for (const words of [['--json'], ['--out', '-']])
      expect((await trialsTool('score', '--run', run.name, ...words)).stdout).toBe(jsonText(score));
  });

  test('of lines from stdin is a table on stdout, and nothing is written', async () => {
    const stdin = four.map((one) => `${JSON.stringify(one)}\n`).join('');
    const { exit, stdout } = await runTool(main, ['score', '--from', '-'], { cwd: scratch, stdin });
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^4 trials of 2 tasks[^]*\npi +4 +4 +0 +100\.0 +51\.0 – 100\.0/);
    expect(existsSync(join(scratch, 'trials-score.json'))).toBe(false);
  });

  test.each([
    [[], 'nothing to score'],
    [['--run', 'x', '--from', 'y'], 'exclude each other'],
    [['--from', 'nothing.jsonl'], "can't read 'nothing.jsonl': it does not exist"],
    [['--from', '-', '--at-once', '3'], "'trials score' takes no flag '--at-once'"],
    [['--from', '-', '--out', 'file'], "'--out': expected '-'"],
  ])('refuses %j', async (words, says) => {
    const { exit, stdout, stderr } = await trialsTool('score', ...words);
    expect([exit === 1 || exit === 2, stdout]).toEqual([true, '']);
    expect(stderr).toContain(says);
  });

  test('tells every wrong line by its number', async () => {
    const { run } = made([four[0]!, { ...four[1]!, reward: Number.NaN }, { ...four[2]!, attempt: 0 }]);
    const { exit, stderr } = await trialsTool('score', '--run', run.name);
    expect(exit).toBe(1);
    expect(stderr).toContain(`${run.name}/trials.jsonl:2: error: expected why`);
    expect(stderr).toContain(`${run.name}/trials.jsonl:3: attempt`);
  });

  test('with a price table that is none', async () => {
    const { run } = made(four);
    writeFileSync(join(scratch, 'prices.yaml'), 'format: prices/1\ncurrency: USD\nmodels:\n  m: 3\n');
    const { exit, stderr } = await trialsTool('score', '--run', run.name, '--prices', 'prices.yaml');
    expect(exit).toBe(2);
    expect(stderr).toContain('prices.yaml:4: models.m');
  });

  test('hostile names are shown, not obeyed', async () => {
    const stdin = `${JSON.stringify(line('a', 1, { model: '\u001b[31mx', reward: null, error: '\u001b[2J', fault: 'arm' }))}\n`;
    for (const words of [[], ['--json']]) {
      const { exit, stdout } = await runTool(main, ['score', '--from', '-', ...words], { stdin });
      expect([exit, stdout.includes('\u001b')]).toEqual([0, false]);
    }
  });
});

describe('a run directory', () => {
  test.each(['apply', 'collect', 'score'])('%s says what is missing', async (verb) => {
    mkdirSync(join(scratch, `empty-${verb}`));
    const { exit, stderr } = await trialsTool(verb, '--run', `empty-${verb}`);
    expect(exit).toBe(2);
    expect(stderr).toContain(`run directory 'empty-${verb}' has no trials.json; 'k8sbench trials' makes one`);
  });

  test('score says who writes the lines', async () => {
    const { run } = made();
    expect((await trialsTool('score', '--run', run.name)).stderr).toContain("'trials collect' writes it");
  });
});

describe('documents', () => {
  test('are found by their digests, whatever lines they hold', () => {
    const { run, trials } = made();
    const manifestOf = documentsOf(run, trials);
    expect(trials.trials.map((one) => manifestOf(one).metadata.name)).toEqual(
      trials.trials.map((one) => one.job),
    );
  });

  test('that were changed are refused before anything is submitted', async () => {
    const { run } = made();
    const path = run.file('trials.yaml');
    writeFileSync(path, readFileSync(path, 'utf8').replace('gate', 'door'));
    const { exit, stderr } = await trialsTool('apply', '--run', run.name, '--dry-run');
    expect(exit).toBe(1);
    expect(stderr).toContain(`the Job '${run.name}-0' is not the one of trials.json`);
  });

  test('of another run are refused', () => {
    const { run, trials } = made();
    expect(() => documentsOf(run, { ...trials, run: 'other' })(trials.trials[0]!)).toThrow(
      "expected the Job 'run-",
    );
  });

  test('of a queue wait for it', () => {
    const { run, trials } = made();
    const manifest = documentsOf(run, trials)(trials.trials[0]!);
    expect(queued(manifest, undefined)).toBe(manifest);
    expect(queued(manifest, 'q')).toMatchObject({
      metadata: { labels: { 'app.kubernetes.io/part-of': run.name, 'kueue.x-k8s.io/queue-name': 'q' } },
      spec: { suspend: true },
    });
  });
});

const seen = (name: string, uid: string, gone = false): [string, SeenJob] => [
  name,
  { job: { metadata: { name, uid, resourceVersion: '1' } }, gone, pod: undefined, podGone: false },
];

describe('what is submitted', () => {
  const { trials } = made();
  const [a1, b1, a2, b2] = trials.trials.map((one) => one.job) as [string, string, string, string];
  const lines = [
    line('a', 1),
    lost('b', 1, 'old'),
    line('a', 2, { reward: null, error: 'x', fault: 'agent' }),
  ];
  const plan = (jobs: [string, SeenJob][], again: boolean, known = lines) => {
    const found = toSubmit(trials.trials, knownOf(known), new Map(jobs), again);
    return {
      submit: found.submit.map((one) => one.job),
      replace: found.replace.map((one) => one.trial.job),
      lost: found.lost.map((one) => one.job),
    };
  };
  const nothing = { submit: [], replace: [], lost: [] };

  test.each<[string, [string, SeenJob][], boolean, object]>([
    ['nothing there', [], false, { submit: [b2], lost: [b1] }],
    ['all there', [seen(a1, '1'), seen(b1, 'old'), seen(a2, '3'), seen(b2, '4')], false, { lost: [b1] }],
    ['a Job that was deleted', [seen(b2, '4', true)], false, { submit: [b2], lost: [b1] }],
    ['again: the lost Job is there', [seen(b1, 'old')], true, { submit: [b2], replace: [b1] }],
    ['again: it is gone', [seen(b1, 'old', true)], true, { submit: [b1, b2] }],
    ['again: its next try is there', [seen(b1, 'new')], true, { submit: [b2] }],
    [
      'again: results are left alone',
      [seen(a1, '1'), seen(a2, '3'), seen(b1, 'new'), seen(b2, '4')],
      true,
      {},
    ],
  ])('%s', (_, jobs, again, wanted) => expect(plan(jobs, again)).toEqual({ ...nothing, ...wanted }));

  test('--dry-run tells it and contacts nothing', async () => {
    const { run } = made(lines);
    const { exit, stdout } = await trialsTool('apply', '--run', run.name, '--dry-run', '--at-once', '3');
    expect([exit, JSON.parse(stdout)]).toEqual([
      0,
      {
        server: 'https://127.0.0.1:1',
        context: 'x',
        namespace: 'ns',
        atOnce: 3,
        applies: [`${run.name}-3`],
        leaves: [`${run.name}-1`],
      },
    ]);
  });
});

test('Jobs that are over, gone, or on a node that is gone take nobody’s place', () => {
  const job = (type?: string): SeenJob['job'] => ({
    metadata: { name: 'x', uid: 'x', resourceVersion: '1' },
    status: { conditions: type === undefined ? [] : [{ type, status: 'True' }] },
  });
  const pod = (conditions: { type: string; status: string; reason?: string }[]): SeenJob['pod'] => ({
    metadata: { name: 'p', uid: 'p', resourceVersion: '1' },
    spec: { nodeName: 'n' },
    status: { phase: 'Running', conditions, containerStatuses: [{ name: 'gate', state: { running: {} } }] },
  });
  const gone = pod([
    { type: 'Ready', status: 'False' },
    { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' },
  ]);
  const all: SeenJob[] = [
    { job: job(), gone: false, pod: undefined, podGone: false },
    { job: job(), gone: false, pod: pod([]), podGone: false },
    { job: job('Complete'), gone: false, pod: pod([]), podGone: false },
    { job: job('Failed'), gone: false, pod: pod([]), podGone: false },
    { job: job(), gone: true, pod: pod([]), podGone: false },
    { job: job(), gone: false, pod: gone, podGone: false },
  ];
  expect(unfinished(new Map(all.map((one, at) => [String(at), one])))).toEqual(all.slice(0, 2));
});

describe('trials.jsonl', () => {
  const talk = { warn: (said: string) => void warned.push(said) } as never;
  const warned: string[] = [];

  test('takes a line once, a verdict after a loss, and nothing after a verdict', () => {
    const { run } = made();
    const steps: [TrialLine, number][] = [
      [lost('a', 1, 'x'), 1],
      [lost('a', 1, 'x'), 1],
      [lost('a', 1, 'y'), 2],
      [line('a', 1, { jobUid: 'y' }), 3],
      [line('a', 1, { jobUid: 'z' }), 3],
      [lost('a', 1, 'z'), 3],
      [line('b', 1, { reward: null, error: 'asked', fault: 'agent' }), 4],
      [line('b', 1), 4],
    ];
    for (const [given, count] of steps) {
      addLines(run, [given], talk);
      expect(readLines(run)).toHaveLength(count);
    }
    expect(knownOf(readLines(run)).get('["a","pi",1]')).toMatchObject({ reward: 1, jobUid: 'y' });
  });

  test('a line torn by a crash leaves the others whole, and its trial is added again', () => {
    const { run } = made([line('a', 1)]);
    appendFileSync(run.file('trials.jsonl'), JSON.stringify(line('b', 1)).slice(0, 50));
    addLines(run, [line('b', 1)], talk);
    expect(readLines(run).map((one) => one.task)).toEqual(['a', 'b']);
    expect(warned.join()).toContain('torn by a crash');
  });
});
