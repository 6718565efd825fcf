/**
 * A cluster's faults under real gates and trials, printed, applied and collected by our own programs: what is lost is told by
 * its name and tried again, what was seen stays. And claims that are full.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { formatYaml } from '../../shared/yaml-format.ts';
import { run } from '../cluster/kube-binary.ts';
import { claim, makeRunBed, MODEL, NAMESPACE, type RunBed } from './run-bed.ts';
import { stageTasks } from './shell-bundle.ts';
import { bareImage } from './trial-images.ts';

/** Long enough for everything that is done to it. */
const LONG = 'echo working > begun; sleep 600';
const SOLVED = `#!/bin/sh
if grep -qx solved /app/solved.txt; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
`;

/** Task → what its agent does, and in which image. */
const TASKS: Readonly<Record<string, { agent: string; image?: string }>> = {
  quick: { agent: 'echo solved > solved.txt' },
  'gate-killed': { agent: LONG },
  'trial-killed': { agent: LONG },
  'image-missing': { agent: LONG },
  'bare-image': { agent: LONG, image: 'bare' },
  'model-restarts': { agent: 'sleep 45; echo solved > solved.txt' },
  'node-gone': { agent: LONG },
};

const writeTasks = (tasks: string): void => {
  for (const [name, { agent, image = 'task' }] of Object.entries(TASKS)) {
    const directory = join(tasks, name);
    mkdirSync(join(directory, 'tests'), { recursive: true });
    writeFileSync(join(directory, 'instruction.md'), `${agent}\n`);
    writeFileSync(join(directory, 'tests/test.sh'), SOLVED, { mode: 0o755 });
    writeFileSync(
      join(directory, 'task.toml'),
      `[agent]\ntimeout_sec = 700\n[environment]\ndocker_image = "localhost:5000/k8sbench-test/${image}:1"\ncpus = 0.2\nmemory_mb = 256\nstorage_mb = 512\n`,
    );
  }
};

/** Larger than a page: a claim of one page has no room for it. */
const SCRIPT =
  readFileSync(resolve(import.meta.dir, '../../fixtures/trials/model-script.json'), 'utf8') +
  ' '.repeat(20_000);

let bed: RunBed;
let staged: string;
const at = (path: string): string => join(bed.directory, path);

const shell = (script: string): string => {
  const { exit, stdout, stderr } = bed.shell(script.replaceAll('KC', `kubectl -n ${NAMESPACE}`));
  if (exit !== 0)
    throw new Error(stderr + stdout + bed.shell(`kubectl -n ${NAMESPACE} get pods -o wide`).stdout);
  return stdout;
};

const print = (out: string, tasks: string, ...words: string[]): void => {
  const arms = words.includes('--arm-settings') ? [] : ['--arm-settings', 'shell.yaml'];
  const more = ['--tasks', tasks, '--attempts', '1', '--out', out, ...arms, ...words];
  bed.done('trials', '--model', MODEL, '--staged', staged, ...more);
};

const linesIn = (out: string): Map<string, TrialLine> =>
  new Map(
    readFileSync(at(`${out}/trials.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one) as TrialLine)
      .map((one) => [one.task, one]),
  );

const collected = (out: string): Map<string, TrialLine> => {
  bed.done('trials', 'collect', '--run', out, '--settle', '5s');
  return linesIn(out);
};

/** The Job of a run's trial. */
const jobFor = (out: string, task: string): string =>
  (JSON.parse(readFileSync(at(`${out}/trials.json`), 'utf8')).trials as { task: string; job: string }[]).find(
    (one) => one.task === task,
  )!.job;

/** A trial's pod, its agent at work. */
const workingPod = (job: string): any => {
  shell(
    `for n in $(seq 120); do KC exec job/${job} -c trial -- test -e /app/begun 2>/dev/null && exit 0; sleep 1; done; exit 1`,
  );
  return JSON.parse(shell(`KC get pods -l batch.kubernetes.io/job-name=${job} -o json`)).items[0];
};

/** A claim whose volume has room for so many bytes. */
const smallClaim = (name: string, size: string): void => {
  bed.cluster.volume(name, '2Gi');
  const path = join(bed.cluster.directory, 'volumes', name);
  run(['mount', '-t', 'tmpfs', '-o', `size=${size},mode=1777`, 'tmpfs', path]);
  bed.cluster.kubectl(['apply', '-f', '-'], formatYaml(claim(name, name)));
};

/** The values of the bed with other claims. */
const valuesWith = (name: string, gpu: Record<string, string>): string => {
  const values = Bun.YAML.parse(readFileSync(at('values.local.yaml'), 'utf8')) as { gpu: object };
  writeFileSync(at(name), formatYaml({ ...values, gpu: { ...values.gpu, ...gpu } }));
  return name;
};

const FAILED = 'wait --for=condition=Failed --timeout=180s';
const lastWords = (label: string): string =>
  shell(
    `KC get pods -l ${label} -o jsonpath='{.items[*].status.containerStatuses[0].state.terminated.message}'`,
  );

beforeAll(() => {
  bed = makeRunBed(SCRIPT);
  bed.cluster.push(bareImage(at('images')), 'k8sbench-test/bare');
  staged = stageTasks(bed, writeTasks);
  // An image that the registry had when it was locked.
  const lock = JSON.parse(readFileSync(at('tasks.lock'), 'utf8'));
  for (const one of lock.tasks)
    if (one.name === 'image-missing') one.image = one.image.replace(/[0-9a-f]{64}$/, 'f'.repeat(64));
  writeFileSync(at('tasks.lock'), JSON.stringify(lock));
  shell(`k8sbench model --model ${MODEL} --staged ${staged} | kubectl apply -f -`);
  shell(`KC wait deployment/k8sbench-model-${MODEL} --for=condition=Available --timeout=300s`);
}, 900_000);
// Thousands of files on a disk that others use.
afterAll(() => bed?.remove(), 300_000);

describe('trials of which', () => {
  test('the gate is killed, the container is killed, the image is missing or Node does not run on it', () => {
    print('lost', 'gate-killed,trial-killed,image-missing,bare-image');
    bed.done('trials', 'apply', '--run', 'lost', '--at-once', '4');
    bed.killContainer(workingPod(jobFor('lost', 'gate-killed')), 'gate');
    bed.killContainer(workingPod(jobFor('lost', 'trial-killed')), 'trial');
    const lines = collected('lost');
    const found = (task: string) => [lines.get(task)!.reward, lines.get(task)!.fault, lines.get(task)!.error];
    expect(found('gate-killed')).toEqual([null, 'infrastructure', 'its gate was killed']);
    expect(found('trial-killed')).toEqual([null, 'infrastructure', "the trial's container was killed"]);
    expect(found('image-missing')).toEqual([
      null,
      'infrastructure',
      expect.stringContaining("the image of 'starts' can't be pulled"),
    ]);
    expect(found('bare-image')).toEqual([
      null,
      'arm',
      expect.stringMatching(/^the bundle's Node does not run on the task's image \(exit 127\): .*\.so/),
    ]);
    // Tried again is what the place lost, never what would go wrong again.
    const again = JSON.parse(bed.done('trials', 'apply', '--run', 'lost', '--again', '--dry-run'));
    expect(again.applies.toSorted()).toEqual(
      ['gate-killed', 'image-missing', 'trial-killed'].map((one) => jobFor('lost', one)).toSorted(),
    );
  }, 600_000);

  test('the arm does not start', () => {
    print('stranger', 'quick', '--arm-settings', 'stranger.yaml');
    bed.done('trials', 'apply', '--run', 'stranger');
    const { reward, fault, error } = collected('stranger').get('quick')!;
    expect([reward, fault]).toEqual([null, 'arm']);
    expect(error).toBe(
      "the arm 'stranger' does not start on the task's image: 'echo no such machine >&2; exit 3' ended with 3: no such machine",
    );
  }, 200_000);

  test('the server of the model restarts meanwhile: void, though it was solved; tried again it counts', () => {
    print('restarted', 'model-restarts');
    bed.done('trials', 'apply', '--run', 'restarted');
    const job = jobFor('restarted', 'model-restarts');
    // Whole seconds are all that the API tells.
    shell(`KC wait pod -l batch.kubernetes.io/job-name=${job} --for=condition=Ready --timeout=120s; sleep 5`);
    const [engine] = JSON.parse(
      shell(`KC get pods -l app.kubernetes.io/instance=k8sbench-model-${MODEL} -o json`),
    ).items;
    bed.killContainer(engine, 'engine');
    expect(collected('restarted').get('model-restarts')).toMatchObject({
      reward: null,
      fault: 'infrastructure',
      error: "the model's server restarted while the agent worked",
      void: { reward: 1 },
    });
    shell(`KC wait deployment/k8sbench-model-${MODEL} --for=condition=Available --timeout=120s`);
    bed.done('trials', 'apply', '--run', 'restarted', '--again');
    expect(collected('restarted').get('model-restarts')).toMatchObject({ reward: 1 });
  }, 400_000);
});

describe('a claim that is full', () => {
  test('takes no bundle, keeps nothing of it, and says so', () => {
    smallClaim('few-trials', '8m');
    const words = [
      '--bundle',
      'shell-bundle',
      '--values',
      valuesWith('few-trials.yaml', { trialPVC: 'few-trials' }),
    ];
    const { sha256, manifest, commands } = JSON.parse(bed.done('stage', ...words, '--json'));
    // Under a name of its own: the bundle's Job is there already.
    const job = `${manifest.metadata.name}-full`;
    manifest.metadata.name = job;
    bed.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(manifest));
    const [ready, send] = (commands as string[]).map((one) => one.replace(/job\/\S+/, `job/${job}`));
    shell(`${ready}\n${send}\nKC ${FAILED} job/${job}`);
    expect(lastWords(`batch.kubernetes.io/job-name=${job}`)).toMatch(
      /^the archive can't be unpacked onto the claim: ./,
    );
    expect(shell(`ls -A ${join(bed.cluster.directory, 'volumes/few-trials/bundles')}`)).toBe('');
    expect(sha256).toBe(staged);
  }, 300_000);

  test('takes no model, and its engine waits', () => {
    smallClaim('few-models', '4k');
    const values = valuesWith('few-models.yaml', { modelPVC: 'few-models', resource: 'example.com/none' });
    const words = `--model ${MODEL} --staged ${staged} --values ${values}`;
    const { objects } = JSON.parse(bed.done('model', ...words.split(' '), '--json'));
    const job = objects.find((one: any) => one.kind === 'Job');
    job.metadata.name += '-full';
    bed.cluster.kubectl(['apply', '-f', '-'], JSON.stringify(job));
    shell(`KC ${FAILED} job/${job.metadata.name}`);
    expect(lastWords(`batch.kubernetes.io/job-name=${job.metadata.name}`)).toContain(
      "'script.json': the claim is full",
    );
    const place = join(bed.cluster.directory, 'volumes/few-models', MODEL);
    expect(shell(`find ${place} -name VERIFIED -o -name '*.part'`)).toBe('');
  }, 300_000);
});

// Last: the node does not come back.
test('a node that is gone takes its trial with it, and what was seen stays', () => {
  // It would take the room of both.
  shell(`KC delete deployment k8sbench-model-${MODEL} --cascade=foreground --timeout=120s`);
  print('quick', 'quick,node-gone', '--node-selector', 'kubernetes.io/hostname=node-2');
  bed.done('trials', 'apply', '--run', 'quick');
  const pod = workingPod(jobFor('quick', 'node-gone'));
  expect(pod.spec.nodeName).toBe('node-2');
  shell(`KC wait job/${jobFor('quick', 'quick')} --for=condition=Complete --timeout=120s`);
  bed.tool('trials', 'collect', '--run', 'quick', '--no-wait');
  expect(linesIn('quick').get('quick')!.reward).toBe(1);
  run(['kill', '-9', readFileSync(join(bed.cluster.directory, 'pid/kubelet-2'), 'utf8').trim()]);
  bed.cluster.kubectl(['delete', 'node', 'node-2']);
  const lines = collected('quick');
  expect(lines.get('quick')!.reward).toBe(1);
  expect(lines.get('node-gone')).toMatchObject({ reward: null, fault: 'infrastructure', node: 'node-2' });
  expect(lines.get('node-gone')!.error).toMatch(/^its node( 'node-2')? is gone/);
}, 400_000);
