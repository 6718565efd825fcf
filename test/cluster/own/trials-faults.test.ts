/** Trials that go wrong, each in its own way: whose fault it is said to be, and that only the place's faults are tried again. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TrialLine } from '../../../schemas/trial-line.ts';
import type { RunDirectory } from '../../../shared/rundir.ts';
import { killKubelet, restartKubelet } from '../faults.ts';
import { run as runProgram } from '../kube-binary.ts';
import { until } from '../processes.ts';
import { admin, ownDirectory } from '../the-cluster.ts';
import {
  type Fate,
  jobsOf,
  linesIn,
  makeTrialBed,
  runningPod,
  SAID,
  start,
  type TrialBed,
  trialRun,
  trialsTool,
} from '../trial-runs.ts';

let bed: TrialBed;
beforeAll(async () => {
  bed = await makeTrialBed('trial-faults');
}, 120_000);
afterAll(() => bed?.remove());

/** Long enough for everything that is done to it. */
const LONG = 'sleep 900';

/** A gate that would say its line, were it not for a fault of the place: it is mended by a ConfigMap. */
const mendable = (gate: string): Pick<Fate, 'gate' | 'change'> => ({
  gate: `[ -e /flag/mended ] || { ${gate}; }; ${SAID}`,
  change(job) {
    const { spec } = job.spec.template;
    spec.volumes = [{ name: 'flag', configMap: { name: 'mended', optional: true } }];
    for (const one of spec.containers) one.volumeMounts = [{ name: 'flag', mountPath: '/flag' }];
  },
});

/** What the gate says of a trial that fell silent. */
const SILENT: Fate['more'] = {
  error: "the trial's container ended without a word: killed, or out of memory",
  fault: 'infrastructure',
};

const NOISE = 'for i in $(seq 12); do yes noise | head -c 100000; sleep 1; done';

interface Fault extends Fate {
  /** Fault and beginning of the error; absent: a verdict. */
  ends?: [TrialLine['fault'], string];
  /** What the tester does to it once it runs. */
  inflict?(job: string): Promise<void>;
}

/** Kills a container as nobody inside can. */
const killContainer = async (job: string, name: string): Promise<void> => {
  const pod = await runningPod(bed, job, name);
  const id = pod.status.containerStatuses
    .find((one: any) => one.name === name)
    .containerID.replace(/^.*\//, '');
  const socket = join(ownDirectory!, pod.spec.nodeName, 'containerd.sock');
  runProgram(['ctr', '-a', socket, '-n', 'k8s.io', 'tasks', 'kill', '-s', 'SIGKILL', id]);
};

const FAULTS: Fault[] = [
  { task: 'solved' },
  { task: 'failed', reward: 0 },
  { task: 'solved-by-log', gate: 'echo "$LINE"' },
  {
    task: 'asked',
    reward: null,
    more: { error: 'the agent asked the gate for the tests', fault: 'agent' },
    ends: ['agent', 'the agent asked'],
  },
  {
    task: 'gate-killed',
    ...mendable(LONG),
    inflict: (job) => killContainer(job, 'gate'),
    ends: ['infrastructure', 'its gate was killed'],
  },
  {
    task: 'trial-killed',
    agent: LONG,
    gate: `sleep 20; ${SAID}`,
    reward: null,
    more: SILENT,
    inflict: (job) => killContainer(job, 'trial'),
    ends: ['infrastructure', "the trial's container was killed"],
  },
  {
    task: 'out-of-memory',
    agent: 'exec tail /dev/zero',
    gate: `sleep 15; ${SAID}`,
    reward: null,
    more: SILENT,
    ends: ['agent', 'the agent used more memory than it may'],
  },
  {
    task: 'went-away',
    agent: 'exit 3',
    gate: `sleep 5; ${SAID}`,
    reward: null,
    more: SILENT,
    ends: ['agent', "the trial's container ended without a word (exit 3)"],
  },
  {
    task: 'image-missing',
    gate: LONG,
    change: (job) => (job.spec.template.spec.containers[0].image = 'localhost/nowhere/missing:1'),
    ends: ['infrastructure', "the image of 'trial' can't be pulled"],
  },
  {
    task: 'claim-missing',
    change: (job) =>
      (job.spec.template.spec.volumes = [{ name: 'x', persistentVolumeClaim: { claimName: 'nowhere' } }]),
    ends: ['infrastructure', "its claim can't be used"],
  },
  {
    task: 'no-node',
    change: (job) => (job.spec.template.spec.nodeSelector = { 'k8sbench.test/nowhere': 'yes' }),
    ends: ['infrastructure', 'no node takes its pod'],
  },
  {
    task: 'disk-filled',
    agent: `dd if=/dev/zero of=/work/x bs=1M count=30; ${LONG}`,
    gate: LONG,
    change(job) {
      const { spec } = job.spec.template;
      spec.volumes = [{ name: 'work', emptyDir: { sizeLimit: '5Mi' } }];
      spec.containers[0].volumeMounts = [{ name: 'work', mountPath: '/work' }];
    },
    ends: ['agent', 'the agent filled its disk'],
  },
  {
    task: 'overtime',
    agent: LONG,
    gate: LONG,
    change: (job) => (job.spec.template.spec.activeDeadlineSeconds = 15),
    ends: ['agent', "the agent's pod ran into its time limit"],
  },
  {
    task: 'job-deleted',
    ...mendable(LONG),
    async inflict(job) {
      await runningPod(bed, job);
      const { metadata } = await admin.get<any>('jobs', { namespace: bed.namespace, name: job });
      await admin.delete('jobs', { namespace: bed.namespace, name: job }, metadata.uid);
    },
    ends: ['infrastructure', 'its Job was deleted'],
  },
  {
    task: 'pod-deleted',
    ...mendable(LONG),
    async inflict(job) {
      const { metadata } = await runningPod(bed, job);
      await admin.delete('pods', { namespace: bed.namespace, name: metadata.name }, metadata.uid);
    },
    ends: ['infrastructure', 'its pod was deleted'],
  },
  {
    task: 'rotated-away',
    gate: `echo "$LINE"; ${NOISE}`,
    ends: ['infrastructure', 'its gate ended without a result line (exit 0)'],
  },
  { task: 'rotated-but-kept', gate: `${SAID}; ${NOISE}` },
  {
    task: 'cut',
    gate: 'echo "$LINE" | head -c 200',
    ends: ['infrastructure', 'its result line is cut'],
  },
  {
    task: 'mixed-up',
    gate: 'echo "$LINE" | sed s/mixed-up/solved/',
    ends: ['infrastructure', "its result line is of another trial: task 'solved'"],
  },
];

/** Tasks that come to a verdict once the place is mended. */
const MENDED = ['gate-killed', 'job-deleted', 'pod-deleted'];

const byTask = (lines: readonly TrialLine[]): Map<string, TrialLine> =>
  new Map(lines.map((one) => [one.task, one]));

const uidsOf = async (run: RunDirectory): Promise<Map<string, string>> =>
  new Map((await jobsOf(bed, run)).map((one) => [one.metadata.name, one.metadata.uid]));

test('each fault by its name; the agent’s stay, the place’s are tried again', async () => {
  for (const node of [1, 2])
    await restartKubelet(ownDirectory!, node, {
      containerLogMaxSize: '64Ki',
      containerLogMaxFiles: 2,
      containerLogMonitorInterval: '3s',
    });
  const { run, trials } = trialRun(bed, FAULTS);
  const jobFor = (task: string): string => trials.trials.find((one) => one.task === task)!.job;
  const collecting = start(bed, ['collect', '--run', run.name, '--settle', '10s']);
  const applied = await trialsTool(bed, 'apply', run, '--at-once', '50');
  expect(applied.exit).toBe(0);
  await Promise.all(FAULTS.map((one) => one.inflict?.(jobFor(one.task))));
  const collected = await collecting.ended;
  expect(collected).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
  expect(collected.stderr).toContain("'k8sbench trials apply --run");

  const lines = byTask(linesIn(run));
  expect([...lines.keys()].toSorted()).toEqual(FAULTS.map((one) => one.task).toSorted());
  for (const { task, ends, reward = 1 } of FAULTS) {
    const line = lines.get(task)!;
    expect([task, line.reward]).toEqual([task, ends ? null : reward]);
    expect([task, line.fault]).toEqual([task, ends?.[0]]);
    if (ends) expect(`${task}: ${line.error}`).toStartWith(`${task}: ${ends[1]}`);
  }

  // Tried again: only what the place lost, and only when asked.
  const before = await uidsOf(run);
  const kept = readFileSync(run.file('trials.jsonl'), 'utf8');
  expect((await trialsTool(bed, 'apply', run)).stderr).toContain('0 Jobs submitted');
  expect(await uidsOf(run)).toEqual(before);
  await admin.create<any>(
    'configmaps',
    { namespace: bed.namespace },
    { metadata: { name: 'mended' }, data: { mended: 'yes' } },
  );
  const lost = FAULTS.filter((one) => one.ends?.[0] === 'infrastructure').map((one) => one.task);
  const retried = await trialsTool(bed, 'apply', run, '--at-once', '50', '--again');
  expect(retried.exit).toBe(0);
  expect(retried.stderr).toContain(`${lost.length} Jobs submitted`);
  const after = await uidsOf(run);
  for (const { task } of FAULTS)
    expect([task, after.get(jobFor(task)) !== before.get(jobFor(task))]).toEqual([task, lost.includes(task)]);
  await killContainer(jobFor('trial-killed'), 'trial');
  expect((await trialsTool(bed, 'collect', run, '--settle', '10s')).exit).toBe(0);
  expect(readFileSync(run.file('trials.jsonl'), 'utf8')).toStartWith(kept);
  const then = byTask(linesIn(run));
  for (const task of MENDED) expect([task, then.get(task)!.reward]).toEqual([task, 1]);
  for (const task of lost.filter((one) => !MENDED.includes(one)))
    expect([task, then.get(task)!.reward]).toEqual([task, null]);
  expect(linesIn(run)).toHaveLength(FAULTS.length + lost.length);
}, 500_000);

test('a node that is gone takes its trial with it, and no other', async () => {
  const onNode =
    (node: string): Fate['change'] =>
    (job) => {
      job.spec.template.spec.nodeSelector = { 'kubernetes.io/hostname': node };
    };
  const { run, trials } = trialRun(bed, [
    { task: 'gone', gate: LONG, agent: LONG, change: onNode('node-2')! },
    { task: 'stays', gate: `sleep 20; ${SAID}`, change: onNode('node-1')! },
  ]);
  expect((await trialsTool(bed, 'apply', run)).exit).toBe(0);
  const pod = await runningPod(bed, trials.trials[0]!.job);
  const back = await killKubelet(ownDirectory!, 2);
  try {
    const node = await admin.get<any>('nodes', { name: 'node-2' });
    await admin.delete('nodes', { name: 'node-2' }, node.metadata.uid);
    const collected = await trialsTool(bed, 'collect', run);
    expect(collected.exit).toBe(0);
    const lines = byTask(linesIn(run));
    expect(lines.get('stays')!.reward).toBe(1);
    expect(lines.get('gone')).toMatchObject({
      reward: null,
      fault: 'infrastructure',
      pod: pod.metadata.name,
    });
    expect(lines.get('gone')!.error).toMatch(/^its node( 'node-2')? is gone/);
  } finally {
    back();
    await until('node-2', async () =>
      (await admin.list<any>('nodes', {})).some(
        (one) =>
          one.metadata.name === 'node-2' &&
          one.status.conditions.some((two: any) => two.type === 'Ready' && two.status === 'True'),
      ),
    );
  }
}, 400_000);
