/** Runs of several sessions in the cluster, the list of runs, and how they are ended from outside. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import { spread as spreadSchema } from '../../schemas/spread.ts';
import { manifestProblems } from '../../tools/run-session/manifest-file.ts';
import { kubectl, real, running as runs, small } from './fault.ts';
import { run as runProgram } from './kube-binary.ts';
import { until } from './processes.ts';
import {
  type Bed,
  expectWhole,
  grants,
  jobOf,
  kubeconfigWith,
  leftIn,
  makeBed,
  planned,
  type Planned,
  session,
  start,
  statesIn,
  untilEvent,
  untilNothingIsLeft,
} from './session-runs.ts';
import { admin, makeUser, node1, node2 } from './the-cluster.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

let bed: Bed;
let alone: Left;
beforeAll(async () => {
  bed = await makeBed('many');
  alone = await leaveRuns();
}, 120_000);
afterAll(async () => {
  await alone.bed.remove();
  await bed.remove();
});

/** Runs that were left alone, by what becomes of them; in a namespace of their own. */
interface Left {
  bed: Bed;
  done: RunDirectory;
  failed: RunDirectory;
  lost: RunDirectory;
}

/** It takes a minute until a Job without a pod counts as lost: this is done first, and looked at last. */
const leaveRuns = async (): Promise<Left> => {
  const theirs = await makeBed('left');
  const detached = async (about: Planned): Promise<RunDirectory> => {
    const run = await planned(theirs, about);
    expect(await session(theirs, run, '--detach')).toMatchObject({ exit: 0 });
    return run;
  };
  const pods = (script: string) => (manifest: any) => runs(small(manifest), script);
  const [done, failed, lost] = await Promise.all([
    detached({ rounds: 3, change: (manifest) => real(small(manifest)) }),
    detached({ change: pods('echo something broke; sleep 5; exit 7') }),
    detached({ node: node2, change: pods('sleep 600') }),
  ]);
  // Its pod goes, and no other is made.
  const suspended = { spec: { suspend: true } };
  const words = ['--namespace', theirs.namespace, 'patch', 'job', lost.name, '--type', 'merge'];
  kubectl([...words, '--patch', JSON.stringify(suspended)]);
  const podsLeft = (): Promise<any[]> => admin.list<any>('pods', { namespace: theirs.namespace });
  await until('their ends', async () =>
    (await podsLeft()).every((one) => ['Succeeded', 'Failed'].includes(one.status.phase)),
  );
  return { bed: theirs, done, failed, lost };
};

const childrenOf = (run: RunDirectory): RunDirectory[] =>
  run.json('spread.json', spreadSchema).children.map((one) => runDirectory(run.file(one.dir), one.run));
const of = (rounds: number, ...words: string[]) =>
  planned(bed, { node: '', rounds, words: ['--image', bed.images.session, ...words] });

const expectBoth = async (run: RunDirectory, rounds: number): Promise<void> => {
  const children = childrenOf(run);
  expect(
    await manifestProblems(
      run,
      children.map((one) => one.name),
    ),
  ).toEqual([]);
  for (const child of children) await expectWhole(bed, child, rounds);
};

describe('a spread', () => {
  test('runs side by side, one session a node', async () => {
    const run = await of(3, '--nodes', `${node1},${node2}`);
    expect(await session(bed, run)).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
    const spread = run.json('spread.json', spreadSchema);
    expect(spread).toMatchObject({
      over: 'nodes',
      children: [
        { node: node1, outcome: 'done' },
        { node: node2, outcome: 'done' },
      ],
    });
    await expectBoth(run, 3);
  });

  test('killed and called again has every sample once', async () => {
    const run = await of(40, '--nodes', `${node1},${node2}`);
    const first = start(bed, ['--run', run.name]);
    await until('both', () => run.has('spread.json'));
    for (const child of childrenOf(run)) await untilEvent(child, 'measuring');
    first.kill('SIGKILL');
    await first.ended;
    expect((await session(bed, run)).exit).toBe(0);
    await expectBoth(run, 40);
  });

  test('the first that fails stops the other; what was measured is kept', async () => {
    const run = await planned(bed, {
      node: '',
      rounds: 900,
      words: ['--image', bed.images.session, '--nodes', `${node1},${node2}`],
    });
    const running = start(bed, ['--run', run.name]);
    await until('both', () => run.has('spread.json'));
    const [one, two] = childrenOf(run) as [RunDirectory, RunDirectory];
    for (const child of [one, two]) await untilEvent(child, 'measuring');
    await until('a sample', () => readFileSync(one.file('pod.log.partial'), 'utf8').includes('"t":"sample"'));
    await admin.delete('jobs', { namespace: bed.namespace, name: two.name }, jobOf(two).job!.uid);
    const ended = await running.ended;
    expect(ended).toMatchObject({ exit: 1, stdout: '' });
    expect(ended.stderr).toContain('its Job was deleted by somebody else');
    expect(jobOf(one)).toMatchObject({
      outcome: 'interrupted',
      message: `stopped by the end of '${two.name}' before it was done`,
    });
    expect(readFileSync(one.file('pod.log'), 'utf8')).toContain('"t":"sample"');
    expect(run.json('spread.json', spreadSchema).children.map((child) => child.outcome)).toEqual([
      'interrupted',
      'failed',
    ]);
    for (const child of [one, two]) await untilNothingIsLeft(bed, child);
  });

  test('in turn, with new pods: --sessions', async () => {
    const run = await of(3, '--sessions', '2', '--node', node1);
    expect((await session(bed, run)).exit).toBe(0);
    const [one, two] = childrenOf(run) as [RunDirectory, RunDirectory];
    expect(jobOf(one).pod!.uid).not.toBe(jobOf(two).pod!.uid);
    await expectBoth(run, 3);
  });
});

const act = (...words: string[]) => start(bed, words).ended;

describe('from outside', () => {
  test('list, cancel: what is there is saved; delete: by directory and by name', async () => {
    const [one, two, three] = [
      await planned(bed, { rounds: 900 }),
      await planned(bed, { node: node2, rounds: 900 }),
      await planned(bed, { rounds: 900 }),
    ];
    for (const run of [one, two]) expect((await session(bed, run, '--detach')).exit).toBe(0);
    for (const run of [one, two])
      await until(
        'it runs',
        async () =>
          (
            await admin.list<any>('pods', {
              namespace: bed.namespace,
              labelSelector: `app.kubernetes.io/instance=${run.name}`,
            })
          )[0]?.status.phase === 'Running',
      );
    expect((await session(bed, three, '--detach', '--settle', '60s')).exit).toBe(0);
    const listed = JSON.parse((await act('list', '--namespace', bed.namespace, '--json')).stdout) as any[];
    expect(Object.fromEntries(listed.map((run) => [run.name, run.state]))).toMatchObject({
      [one.name]: 'running',
      [two.name]: 'running',
      [three.name]: 'waiting',
    });
    expect((await act('list', '--namespace', bed.namespace)).stdout).toMatch(/^run +state +node +age\n/);
    const canceled = await act('cancel', '--run', one.name);
    expect(canceled.exit).toBe(0);
    expect(jobOf(one)).toMatchObject({
      outcome: 'interrupted',
      message: 'stopped by cancel before it was done',
    });
    expect(readFileSync(one.file('pod.log'), 'utf8')).toContain('"t":"end"');
    expect((await act('cancel', '--run', one.name)).stderr).toContain(
      'is interrupted; there is nothing to cancel',
    );
    expect((await act('delete', '--run', two.name)).exit).toBe(0);
    expect(jobOf(two)).toMatchObject({ outcome: 'interrupted' });
    expect((await act('delete', three.name, '--namespace', bed.namespace)).exit).toBe(0);
    for (const run of [one, two, three]) await untilNothingIsLeft(bed, run);
    expect((await act('delete', 'nobody', '--namespace', bed.namespace)).stderr).toContain(
      "has no Job 'nobody'",
    );
    expect((await act('list', '--namespace', bed.namespace, '--json')).stdout).toBe('[]\n');
    // The Job of a run that was deleted by its name is missed by its directory; it never got far enough to have said all.
    const late = await session(bed, three);
    expect(late.exit).toBe(1);
    expect(late.stderr).toContain('its Job was deleted by somebody else');
  });

  test('cancel tells a runner that follows', async () => {
    const run = await planned(bed, { rounds: 900 });
    const running = start(bed, ['--run', run.name]);
    await untilEvent(run, 'measuring');
    expect((await act('cancel', '--run', run.name)).stderr).toContain('to stop');
    expect((await running.ended).exit).toBe(130);
    expect(await leftIn(bed, run).then((left) => left.filter((one) => one.startsWith('job')))).toEqual([]);
  });

  test('--dry-run contacts nothing', async () => {
    const run = await planned(bed);
    const nowhere = { ...bed, kubeconfig: kubeconfigWith(join(bed.directory, 'nowhere'), 'none') };
    const text = readFileSync(nowhere.kubeconfig, 'utf8').replaceAll(
      /https:\/\/127\.0\.0\.1:\d+/g,
      'https://127.0.0.1:1',
    );
    await Bun.write(bed.kubeconfig + '.nowhere', text);
    const dry = await planned({ ...bed, kubeconfig: `${bed.kubeconfig}.nowhere` });
    const ended = await session(bed, dry, '--dry-run');
    expect(ended.exit).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      sessions: [{ run: dry.name, server: 'https://127.0.0.1:1', creates: { kind: 'Job' } }],
    });
    expect([dry.has('job.json'), run.has('job.json')]).toEqual([false, false]);
  });
});

test('compare from the command line, as the user of the grant, nodes picked without cluster reads and with them', async () => {
  const program = join(import.meta.dir, '../../tools/k8sbench/main.ts');
  const compare = (kubeconfig: string, ...words: string[]): string =>
    runProgram(
      [
        ...[
          process.execPath,
          program,
          'compare',
          '--profile',
          'durable-store',
          '--turns',
          '50',
          '--rounds',
          '3',
        ],
        '--cpus',
        '1',
        '--memory',
        '512Mi',
        '--namespace',
        bed.namespace,
        '--image',
        bed.images.session,
        '--kubeconfig',
        kubeconfig,
        '--max-cv',
        '100',
        '--out',
        join(bed.directory, 'out'),
        ...words,
      ],
      { cwd: bed.directory, env: { KUBECONFIG: '' } },
    );
  const line = JSON.parse(compare(bed.kubeconfig, '--pick-node', '--nodes', `${node2},${node1}`));
  expect(line).toMatchObject({ rule: 'store', turns: 50 });
  const token = await makeUser(bed.namespace, 'reader', grants().get('k8sbench-image')!);
  const role = { name: `k8sbench-reads-${bed.namespace}` };
  const made = [
    await admin.create<any>(
      'clusterroles',
      {},
      { metadata: role, rules: grants().get('k8sbench-cluster-reads') },
    ),
    await admin.create<any>(
      'clusterrolebindings',
      {},
      {
        metadata: role,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', ...role },
        subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: bed.namespace }],
      },
    ),
  ];
  try {
    await Bun.sleep(1000);
    const reader = kubeconfigWith(join(bed.directory, 'reader'), token);
    const spread = JSON.parse(compare(reader, '--spread', '2'));
    const facts = JSON.parse(
      readFileSync(
        join(
          bed.directory,
          'out',
          spread.run.split('/').at(-1)!,
          `${spread.run.split('/').at(-1)!}-n1`,
          'cluster.json',
        ),
        'utf8',
      ),
    );
    expect(facts.node).toMatchObject({ info: { operatingSystem: 'linux' } });
    expect(facts.missing).toEqual([]);
  } finally {
    await admin.delete('clusterroles', role, made[0].metadata.uid);
    await admin.delete('clusterrolebindings', role, made[1].metadata.uid);
  }
});

test('list shows what is not collected, failed and lost; each is ended as it should be', async () => {
  const { bed: theirs, done, failed, lost } = alone;
  const states = { [done.name]: 'done, not collected', [failed.name]: 'failed', [lost.name]: 'lost' };
  await until('a minute without a pod', async () => (await statesIn(theirs))[lost.name] !== 'waiting');
  expect(await statesIn(theirs)).toEqual(states);
  expect((await session(theirs, done)).exit).toBe(0);
  await expectWhole(theirs, done, 3);
  const told = await session(theirs, failed);
  expect(told.exit).toBe(1);
  expect(told.stderr).toContain('the pod program ended with status 7: something broke');
  expect((await start(theirs, ['delete', '--run', lost.name]).ended).exit).toBe(0);
  for (const run of [done, failed, lost]) await untilNothingIsLeft(theirs, run);
  expect(await statesIn(theirs)).toEqual({});
});
