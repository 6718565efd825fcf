/** run-session against a cluster held in memory: what it asks of it, and what it must never ask. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Job } from '../../schemas/job.ts';
import { identityOf } from '../../tools/run-session/processes.ts';
import { main as analyze } from '../../tools/analyze/main.ts';
import { main } from '../../tools/run-session/main.ts';
import { main as tracker } from '../../tools/tracker/main.ts';
import { inCluster } from '../../tools/run-session/cluster/cluster.ts';
import { claim } from '../../tools/run-session/job-file.ts';
import { attempt, prepare, readRun } from '../../tools/run-session/measure.ts';
import { EXIT } from '../../shared/exit.ts';
import { sha256 } from '../../shared/files.ts';
import { ConnectionError } from '../../shared/kubernetes.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import type { Talk } from '../../shared/talk.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { formatYaml } from '../../shared/yaml-format.ts';
import { runTool } from '../outside.ts';
import { FakeCluster, logOf, plannedFor } from './fake-cluster.ts';
import { planByHand } from './run-session-fixture.ts';

// Machines may be busy.
setDefaultTimeout(60_000);

let directory: string;
let cluster: FakeCluster;
let kubeconfig: string;
beforeEach(() => {
  // In memory: a sync of the machine's disk waits for whoever else writes there.
  const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  directory = mkdtempSync(join(memory, 'k8sbench-fake-'));
  cluster = new FakeCluster();
  kubeconfig = cluster.kubeconfig(directory);
});
afterEach(() => {
  cluster.stop();
  rmSync(directory, { recursive: true });
});

const silent: Talk = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  print: () => undefined,
  flushed: async () => undefined,
};
const act = (...words: string[]) =>
  runTool((args, world) => main(args, { ...world, random: (bytes) => randomBytes(bytes) }), words, {
    cwd: directory,
    env: { KUBECONFIG: kubeconfig },
  });
const planned = (name: string, ...words: string[]): Promise<RunDirectory> =>
  plannedFor(directory, name, kubeconfig, ...words);
const jobOf = (run: RunDirectory): Job => JSON.parse(readFileSync(run.file('job.json'), 'utf8')) as Job;
const change = (run: RunDirectory, fields: object): void =>
  writeFileSync(run.file('job.json'), JSON.stringify({ ...jobOf(run), ...fields }));
/** A run that goes on in the cluster. */
const detached = async (name: string, ...words: string[]): Promise<RunDirectory> => {
  cluster.endless = true;
  const run = await planned(name, ...words);
  expect(await act('--run', name, '--detach')).toMatchObject({ exit: 0 });
  return run;
};

test('a session is measured, and nothing of it is left', async () => {
  const run = await planned('r');
  expect(await act('--run', 'r')).toMatchObject({ exit: 0, stdout: 'r\n' });
  expect(readFileSync(run.file('pod.log'), 'utf8')).toBe(cluster.log.whole);
  expect(jobOf(run)).toMatchObject({ outcome: 'done', pod: { node: 'n1' } });
  expect(cluster.jobs.size).toBe(0);
});

test('a run is taken up from any directory, however its kubeconfig was named', async () => {
  await plannedFor(directory, 'r', 'kubeconfig');
  const { exit } = await runTool(main, ['--run', join(directory, 'r')], { cwd: '/', env: {} });
  expect(exit).toBe(0);
});

describe('--dry-run', () => {
  test.each([
    [['--run', 'r']],
    [['cancel', '--run', 'r']],
    [['delete', '--run', 'r']],
    [['delete', 'r', '--namespace', 'bench']],
    [['list', '--namespace', 'bench']],
  ])('%j: asks the cluster nothing and changes nothing', async (words) => {
    const run = await detached('r');
    const before = readFileSync(run.file('job.json'), 'utf8');
    cluster.asked.length = 0;
    const { exit, stdout } = await act(...words, '--dry-run');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ format: 'dry-run/1' });
    expect(cluster.asked).toEqual([]);
    expect(readFileSync(run.file('job.json'), 'utf8')).toBe(before);
  });

  test('says which Jobs would go, by their UIDs', async () => {
    const run = await detached('r');
    const deletes = { kind: 'Job', name: 'r', uid: jobOf(run).job!.uid };
    for (const action of ['cancel', 'delete'])
      expect(JSON.parse((await act(action, '--run', 'r', '--dry-run')).stdout).sessions).toMatchObject([
        { run: 'r', namespace: 'bench', deletes },
      ]);
  });
});

describe('flags that have no meaning for what is asked are refused', () => {
  test.each([
    [['--run', 'r', '--context', 'other'], "'run-session --run DIR' takes no flag '--context'"],
    [['--run', 'r', '--namespace', 'other'], "where its 'values.json' says"],
    [['--run', 'r', '--kubeconfig', 'f'], "takes no flag '--kubeconfig'"],
    [['--run', 'r', '--values', 'f'], "takes no flag '--values'"],
    [['cancel', '--run', 'r', '--force'], "'run-session cancel --run DIR' takes no flag '--force'"],
    [['cancel', '--run', 'r', '--keep'], "takes no flag '--keep'"],
    [['delete', '--run', 'r', '--namespace', 'other'], "takes no flag '--namespace'"],
    [['delete', 'r', '--detach'], "'run-session delete NAME' takes no flag '--detach'"],
    [['list', '--settle', '3s'], "'run-session list' takes no flag '--settle'"],
    [['delete', 'r', '--run', 'r'], "'delete' needs a run's name, or its directory"],
    [['cancel'], "'cancel' needs its directory"],
  ])('%j', async (words, message) => {
    mkdirSync(join(directory, 'r'));
    const { exit, stderr } = await act(...words);
    expect(exit).toBe(2);
    expect(stderr).toContain(message);
    expect(cluster.asked).toEqual([]);
  });
});

describe('cancel', () => {
  test.each([[['--sessions', '2', '--node', 'n1']], [['--nodes', 'n1,n2']]])(
    '%j: every session that was left to itself is stopped and saved',
    async (words) => {
      const run = await detached('r', ...words);
      const begun = ['r-n1', 'r-n2'].filter((one) => cluster.jobs.has(one));
      expect(begun.length).toBeGreaterThan(0);
      expect((await act('cancel', '--run', 'r')).exit).toBe(0);
      expect(cluster.jobs.size).toBe(0);
      for (const name of begun) {
        const child = JSON.parse(readFileSync(run.file(`${name}/job.json`), 'utf8')) as Job;
        expect(child).toMatchObject({
          outcome: 'interrupted',
          message: 'stopped by cancel before it was done',
        });
        expect(readFileSync(run.file(`${name}/pod.log`), 'utf8')).toBe(
          cluster.log.begun + cluster.log.stopped,
        );
      }
      expect(jobOf(run).outcome).toBe('interrupted');
      expect((await act('cancel', '--run', 'r')).stderr).toContain('nothing to cancel');
    },
  );

  test('one session that can not be stopped keeps no other from it', async () => {
    await detached('r', '--sessions', '2', '--node', 'n1');
    expect((await act('--run', 'r/r-n2', '--detach')).exit).toBe(0);
    expect(cluster.jobs.size).toBe(2);
    cluster.instead = (method, path) =>
      method === 'DELETE' && path.endsWith('/r-n1')
        ? Response.json({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }, { status: 403 })
        : undefined;
    expect((await act('cancel', '--run', 'r')).exit).toBe(1);
    expect([...cluster.jobs.keys()]).toEqual(['r-n1']);
  });

  test('of a run that ended, and left a session to itself', async () => {
    const run = await detached('r', '--sessions', '2', '--node', 'n1');
    change(run, { outcome: 'failed', exit: 1 });
    expect((await act('cancel', '--run', 'r')).exit).toBe(0);
    expect(cluster.jobs.size).toBe(0);
  });
});

test.each([
  ['there', "'here' is measured on 'there'; cancel it there"],
  ['here', "'here' was killed; there is nothing to cancel"],
])('cancel of a run on a machine: on the one that measures it (%s)', async (host, says) => {
  const run = runDirectory(planByHand(directory, 'here', { host }));
  const timeline = [{ at: '2026-01-02T03:04:05.000Z', event: 'claimed' }];
  writeFileSync(
    run.file('job.json'),
    JSON.stringify({
      format: 'job/1',
      run: 'here',
      delivery: 'local',
      host,
      runner: { pid: 7, start_ticks: 1 },
      timeline,
      outcome: 'running',
    }),
  );
  const { exit, stderr } = await act('cancel', '--run', 'here');
  expect([exit, stderr.includes(says)]).toEqual([1, true]);
});

describe('delete', () => {
  test('of a run that somebody measures: nothing is deleted', async () => {
    const run = await detached('r');
    change(run, { runner: identityOf(process.pid), host: 'here' });
    const { exit, stderr } = await act('delete', '--run', 'r');
    expect(exit).toBe(1);
    expect(stderr).toContain(`'r' is being measured by process ${process.pid}`);
    expect(cluster.jobs.size).toBe(1);
    expect(jobOf(run).outcome).toBe('running');
  });

  test('of a run whose session somebody measures: nothing is deleted', async () => {
    const run = await detached('r', '--nodes', 'n1,n2');
    const child = run.file('r-n2/job.json');
    const job = JSON.parse(readFileSync(child, 'utf8')) as Job;
    writeFileSync(child, JSON.stringify({ ...job, runner: identityOf(process.pid), host: 'here' }));
    expect((await act('delete', '--run', 'r')).exit).toBe(1);
    expect(cluster.jobs.size).toBe(2);
  });

  test('a Job whose UID was never written down is found by its word', async () => {
    const run = await detached('r');
    const { job: _job, pod: _pod, ...rest } = jobOf(run);
    writeFileSync(run.file('job.json'), JSON.stringify(rest));
    expect((await act('delete', '--run', 'r')).exit).toBe(0);
    expect(cluster.jobs.size).toBe(0);
    expect(jobOf(run)).toMatchObject({ outcome: 'interrupted' });
  });

  test('of a run that was killed on this machine: it never had a Job', async () => {
    const dir = planByHand(directory, 'here', { host: 'here' });
    const run = runDirectory(dir);
    const timeline = [{ at: '2026-01-02T03:04:05.000Z', event: 'claimed' }];
    writeFileSync(
      run.file('job.json'),
      JSON.stringify({
        format: 'job/1',
        run: 'here',
        delivery: 'local',
        host: 'here',
        timeline,
        outcome: 'running',
      }),
    );
    expect((await act('delete', '--run', 'here')).exit).toBe(0);
    expect(jobOf(run)).toMatchObject({ outcome: 'interrupted', message: 'its runner was killed' });
    expect(cluster.asked).toEqual([]);
  });

  test("another run's Job of the same name stays", async () => {
    const run = await detached('r');
    const { job: _job, pod: _pod, ...rest } = jobOf(run);
    writeFileSync(run.file('job.json'), JSON.stringify({ ...rest, submission: 'other' }));
    expect((await act('delete', '--run', 'r')).exit).toBe(0);
    expect(cluster.jobs.size).toBe(1);
  });

  test.each([[[]], [['--nodes', 'n1,n2']]])(
    'of a run that was never begun says that there is nothing (%j)',
    async (words) => {
      await planned('r', ...words);
      const { exit, stdout, stderr } = await act('delete', '--run', 'r');
      expect([exit, stdout, cluster.asked]).toEqual([0, '', []]);
      expect(stderr).toContain("'r' is not begun and has no Job in a cluster; there is nothing to delete");
    },
  );
});

describe('list and delete NAME', () => {
  test.each<[string, string, string]>([
    ['goes on', logOf(5).begun, 'running'],
    ['has ended', logOf(5).whole, 'done, not collected'],
    ['has ended with an error', logOf(5).begun + logOf(5).stopped, 'failed'],
    [
      'has written a long line',
      `${logOf(5).begun}{"t":"note","seq":2,"x":"${'"t":"end"'.repeat(50)}`,
      'running',
    ],
  ])('a bundle session whose pod runs and which %s', async (_, log, state) => {
    await detached('r');
    for (const pod of cluster.pods.values())
      pod.spec.containers[0].env.push({ name: 'K8SBENCH_ACKNOWLEDGED', value: '/bundle/ACKNOWLEDGED' });
    cluster.log = { ...cluster.log, begun: log };
    const listed = async (): Promise<string> =>
      JSON.parse((await act('list', '--namespace', 'bench', '--json')).stdout)[0].state;
    expect(await listed()).toBe(state);
    // It tells no more where logs may not be read.
    cluster.instead = (__, path) =>
      path.endsWith('/log')
        ? Response.json({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }, { status: 403 })
        : undefined;
    expect(await listed()).toBe('running');
  });

  test('a log that does not come keeps nobody from the list', async () => {
    await detached('r');
    for (const pod of cluster.pods.values())
      pod.spec.containers[0].env.push({ name: 'K8SBENCH_ACKNOWLEDGED', value: '/bundle/ACKNOWLEDGED' });
    cluster.instead = (_, path) => (path.endsWith('/log') ? new Response(new ReadableStream({})) : undefined);
    const { exit, stdout } = await act('list', '--namespace', 'bench', '--json');
    expect([exit, JSON.parse(stdout)[0].state]).toEqual([0, 'running']);
  });

  test('asks for no log of a session whose pod ends with it', async () => {
    await detached('r');
    cluster.asked.length = 0;
    await act('list', '--namespace', 'bench');
    expect(cluster.asked.filter((one) => one.endsWith('/log'))).toEqual([]);
  });

  test('are about sessions alone', async () => {
    await detached('r');
    const labels = { 'app.kubernetes.io/managed-by': 'k8sbench', 'app.kubernetes.io/component': 'trial' };
    cluster.makeJob({ metadata: { name: 'trial-1', labels }, spec: {} });
    const { stdout } = await act('list', '--namespace', 'bench', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'r', state: 'running', node: 'n1' }]);
    const refused = await act('delete', 'trial-1', '--namespace', 'bench');
    expect(refused).toMatchObject({ exit: 1 });
    expect(refused.stderr).toContain("is no run's but of kind 'trial'; it is left alone");
    expect(cluster.jobs.has('trial-1')).toBe(true);
  });
});

describe('a manifest that is not what render writes', () => {
  const edit = (run: RunDirectory, by: (manifest: any) => void, file = 'manifest.yaml'): void => {
    const manifest = parseForeignYaml(readFileSync(run.file(file), 'utf8'), 'manifest') as any;
    by(manifest);
    writeFileSync(run.file(file), formatYaml(manifest));
  };
  const moreCpus = ({ spec }: any): void => {
    spec.template.spec.containers[0].resources.limits.cpu = '4';
  };
  const CHANGED = `spec.template.spec.containers 'bench'.resources.limits.cpu: "2" became "4"`;

  test('is refused before anything is asked of the cluster, and the run stays as it was', async () => {
    const run = await planned('r');
    edit(run, moreCpus);
    const { exit, stdout, stderr } = await act('--run', 'r');
    expect([exit, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`r/manifest.yaml: ${CHANGED}`);
    expect(stderr).toContain('write it again: k8sbench render --run r');
    expect(stderr).toContain('--edited-manifest');
    expect(cluster.asked).toEqual([]);
    expect(run.has('job.json')).toBe(false);
    expect((await act('--run', 'r', '--dry-run')).exit).toBe(1);
  });

  test.each<[string, (manifest: any) => void, string]>([
    [
      'a field too much',
      ({ spec }) => (spec.template.spec.hostNetwork = true),
      'spec.template.spec.hostNetwork: nothing became true',
    ],
    [
      'an environment that is none',
      ({ spec }) => (spec.template.spec.containers[0].env = { a: 1 }),
      "it does not carry this run's plan",
    ],
    [
      'two plans, of which the last counts',
      ({ spec }) => spec.template.spec.containers[0].env.push({ name: 'K8SBENCH_PLAN', value: '{}' }),
      "it does not carry this run's plan",
    ],
    ['one that is gone', ({ spec }) => delete spec.backoffLimit, 'spec.backoffLimit: 0 became nothing'],
    [
      'a container more',
      ({ spec }) => spec.template.spec.containers.push({ name: 'more', image: 'x' }),
      `spec.template.spec.containers 'more': nothing became {"name":"more","image":"x"}`,
    ],
    [
      'another node',
      ({ spec }) => (spec.template.spec.nodeName = 'n2'),
      'spec.template.spec.nodeName: nothing became "n2"',
    ],
  ])('%s', async (_, by, says) => {
    edit(await planned('r'), by);
    const { exit, stderr } = await act('--run', 'r');
    expect([exit, stderr.includes(says)]).toEqual([1, true]);
  });

  test("comments and order of its keys are nobody's business", async () => {
    const run = await planned('r');
    const { metadata, ...rest } = parseForeignYaml(
      readFileSync(run.file('manifest.yaml'), 'utf8'),
      '',
    ) as any;
    writeFileSync(run.file('manifest.yaml'), `# mine\n${formatYaml({ ...rest, metadata })}`);
    expect((await act('--run', 'r')).exit).toBe(0);
    expect(jobOf(run).manifest).toEqual({ sha256: sha256(readFileSync(run.file('manifest.yaml'))) });
  });

  test('was rendered for other nodes than were picked since', async () => {
    const run = await planned('r', '--node', 'n1');
    writeFileSync(
      run.file('nodes.json'),
      JSON.stringify({ basis: 'cluster', nodes: [], chosen: ['n2'], warnings: [] }),
    );
    const { exit, stderr } = await act('--run', 'r');
    expect(exit).toBe(1);
    expect(stderr).toContain('nodeSelectorTerms[0].matchFields[0].values[0]: "n2" became "n1"');
  });

  test('is submitted when it is said to be edited, told and written down', async () => {
    const run = await planned('r');
    edit(run, moreCpus);
    const would = JSON.parse((await act('--run', 'r', '--edited-manifest', '--dry-run')).stdout);
    expect(would.sessions[0].manifest.edited).toEqual([CHANGED]);
    const { exit, stderr } = await act('--run', 'r', '--edited-manifest');
    expect(exit).toBe(0);
    expect(stderr).toContain(`'r/manifest.yaml' was edited: ${CHANGED}`);
    expect(jobOf(run).manifest).toMatchObject({ edited: [CHANGED] });
  });

  test('of a session that goes on: taken up as it was begun, and no other', async () => {
    const run = await planned('r');
    edit(run, moreCpus);
    cluster.endless = true;
    expect((await act('--run', 'r', '--edited-manifest', '--detach')).exit).toBe(0);
    expect((await act('--run', 'r', '--detach')).exit).toBe(0);
    edit(run, ({ spec }) => (spec.activeDeadlineSeconds = 1));
    const { exit, stderr } = await act('--run', 'r', '--edited-manifest');
    expect([exit, jobOf(run).outcome, cluster.jobs.size]).toEqual([1, 'running', 1]);
    expect(stderr).toContain('is not the one that the session was begun with');
    expect((await act('cancel', '--run', 'r')).exit).toBe(0);
    expect(cluster.jobs.size).toBe(0);
  });

  test('of one session of several: the whole run is to be rendered', async () => {
    const run = await planned('r', '--nodes', 'n1,n2');
    edit(run, moreCpus, 'r-n2/manifest.yaml');
    for (const words of [
      ['--run', 'r'],
      ['--run', 'r/r-n2'],
    ]) {
      const { exit, stderr } = await act(...words);
      expect([exit, stderr.includes(CHANGED), stderr.includes('render --run r;')]).toEqual([1, true, true]);
    }
    expect(cluster.asked).toEqual([]);
    const { exit, stderr } = await act('--run', 'r', '--edited-manifest');
    expect([exit, stderr.split(CHANGED)]).toEqual([0, [expect.any(String), expect.any(String)]]);
  });
});

describe('a run measured anew', () => {
  test('has the facts of the node where it was measured, not of the one before', async () => {
    const run = await planned('r');
    expect((await act('--run', 'r')).exit).toBe(0);
    cluster.node = 'n2';
    expect((await act('--run', 'r', '--force')).exit).toBe(0);
    expect(JSON.parse(readFileSync(run.file('cluster.json'), 'utf8')).node.name).toBe('n2');
  });

  test('never takes the Job of the attempt before for its own', async () => {
    const run = await planned('r');
    expect((await act('--run', 'r', '--keep')).exit).toBe(0);
    const old = jobOf(run);
    expect(cluster.jobs.size).toBe(1);
    let creates = 0;
    // The first request is lost on its way.
    cluster.instead = (method, path) =>
      method === 'POST' && path.endsWith('/jobs') && creates++ === 0
        ? Response.json({ message: 'busy' }, { status: 503 })
        : undefined;
    expect((await act('--run', 'r', '--force')).exit).toBe(0);
    expect(creates).toBeGreaterThan(1);
    expect(jobOf(run).job!.uid).not.toBe(old.job!.uid);
    expect(jobOf(run).submission).not.toBe(old.submission!);
    expect(cluster.jobs.size).toBe(0);
  });
});

test.each([
  [[], 'the cluster'],
  [['--nodes', 'n1,n2'], "'r-n1': the cluster"],
  [['--sessions', '2', '--node', 'n1'], "'r-n1': the cluster"],
])(
  'a run that the cluster made invalid before it had a log ends every step of its pipe with 5 (%j)',
  async (words, who) => {
    const run = await planned('r', ...words);
    const makePod = cluster.makePod.bind(cluster);
    cluster.endless = true;
    cluster.makePod = (job, uid) => {
      const { spec } = job.spec.template;
      if (job.metadata.name === 'r-n2') return makePod(job, uid);
      return makePod(
        {
          ...job,
          spec: { template: { ...job.spec.template, spec: { ...spec, initContainers: [{ name: 'more' }] } } },
        },
        uid,
      );
    };
    const measured = await act('--run', 'r');
    expect([measured.exit, measured.stdout, run.has('pod.log')]).toEqual([5, 'r\n', false]);
    const judged = await runTool(analyze, ['--run', '-'], { cwd: directory, stdin: measured.stdout });
    expect([judged.exit, judged.stdout]).toEqual([5, 'r\n']);
    const recorded = await runTool(tracker, ['append', '--run', '-'], {
      cwd: directory,
      stdin: judged.stdout,
    });
    expect([recorded.exit, recorded.stdout]).toEqual([5, '']);
    expect(recorded.stderr).toContain(`${who} changed the pod: initContainers: 'more' was added`);
  },
);

test('several sessions that are measured again are all measured again, also by a runner that takes them up', async () => {
  const run = await planned('r', '--sessions', '2', '--node', 'n1');
  expect((await act('--run', 'r')).exit).toBe(0);
  const stop = new AbortController();
  cluster.instead = (method) => {
    if (method === 'DELETE') stop.abort('SIGINT');
    return undefined;
  };
  const stopped = await runTool(
    (args, world) => main(args, { ...world, random: (bytes) => randomBytes(bytes) }),
    ['--run', 'r', '--force'],
    { cwd: directory, env: { KUBECONFIG: kubeconfig }, interrupted: stop.signal },
  );
  expect(stopped.exit).toBe(130);
  cluster.asked.length = 0;
  expect((await act('--run', 'r')).exit).toBe(0);
  expect(cluster.asked.filter((one) => one.startsWith('POST'))).toHaveLength(1);
  expect(['r-n1', 'r-n2'].map((name) => run.has(`${name}/pod.log.done-1`))).toEqual([true, true]);
});

describe('more than one pod', () => {
  test('makes a run invalid, whatever its log says', async () => {
    const run = await planned('r');
    const makePod = cluster.makePod.bind(cluster);
    cluster.makePod = (job, uid) => (makePod(job, uid), makePod(job, 'second'));
    const { exit, stderr } = await act('--run', 'r');
    expect(exit).toBe(5);
    expect(stderr).toContain('a second pod was started for it');
    expect(jobOf(run)).toMatchObject({ outcome: 'invalid', exit: 5 });
    expect(existsSync(run.file('MANIFEST.sha256'))).toBe(false);
    expect(cluster.jobs.size).toBe(0);
  });

  test('a later runner finds another pod than the first one saw', async () => {
    const run = await detached('r');
    const { uid } = jobOf(run).pod!;
    cluster.pods.delete(uid);
    cluster.endless = false;
    cluster.makePod(cluster.jobs.get('r'), 'another');
    expect((await act('--run', 'r')).exit).toBe(5);
    expect(jobOf(run)).toMatchObject({ outcome: 'invalid', pod: { uid } });
  });
});

/** Measures the run `r` with a spool in its pod; gives the exit status. */
const measuredWith = async (
  run: RunDirectory,
  read: (take: (block: Uint8Array) => void) => void,
): Promise<number> => {
  const delivery = inCluster(() => ({
    spool: { lies: 'in the pod', read: async (_pod, _at, take) => read(take) },
  }));
  const took = await runTool(
    async (_, world) => {
      const manner = { world, talk: silent, keep: false, force: false, detach: false, settle_s: 60 };
      const whole = { ...manner, readKubeletConfig: false, editedManifest: false };
      const about = readRun(run);
      const { task } = await prepare(run, about, whole);
      const { exit } = await attempt(run, about, whole, (job, attaching) =>
        delivery.measure({ ...task, job, attaching }),
      );
      return exit;
    },
    [],
    { cwd: directory },
  );
  return took.exit;
};

test('a log that the node rotated away after its stream broke is taken from the pod, once for each stream', async () => {
  cluster.endless = true;
  const run = await planned('r');
  let streams = 0;
  // The second stream is of a file that nothing is written into any more.
  cluster.instead = (_, path) =>
    path.endsWith('/log')
      ? new Response(streams++ === 0 ? cluster.log.begun : new ReadableStream({}))
      : undefined;
  let looks = 0;
  const exit = await measuredWith(run, (take) => {
    looks++;
    take(new TextEncoder().encode(cluster.log.whole));
  });
  expect([exit, looks, streams]).toEqual([0, 1, 2]);
  expect(readFileSync(run.file('pod.log'), 'utf8')).toBe(cluster.log.whole);
});

test("a connection that breaks while the pod's own copy is read loses nothing: it is read again", async () => {
  cluster.endless = true;
  const run = await planned('r');
  const bytes = new TextEncoder().encode(cluster.log.whole);
  const lines = cluster.log.whole.split('\n');
  // The node has its first line and its last ones.
  cluster.instead = (_, path) =>
    path.endsWith('/log') ? new Response([lines[0], ...lines.slice(2)].join('\n')) : undefined;
  let reads = 0;
  const exit = await measuredWith(run, (take) => {
    if (++reads === 1) {
      take(bytes.subarray(0, cluster.log.whole.indexOf('\n') + 1));
      throw new ConnectionError('it broke', { final: false, sent: true });
    }
    take(bytes);
  });
  expect([exit, reads]).toEqual([0, 2]);
  expect(readFileSync(run.file('pod.log'), 'utf8')).toBe(cluster.log.whole);
});

test('of a log with a gap that nobody has any more, what comes after it is kept, and named with what is missing', async () => {
  const run = await planned('r');
  const lines = cluster.log.whole.split(/(?<=\n)/);
  cluster.instead = (_, path) =>
    path.endsWith('/log') ? new Response([lines[0], ...lines.slice(3)].join('')) : undefined;
  const { exit, stderr } = await act('--run', 'r');
  expect(exit).toBe(1);
  expect(stderr).toContain('lines are missing: seq 1–2; the node rotated them away before they were read');
  expect(stderr).toContain(
    "; its log is 'r/pod.log.partial'; what came after the missing lines is in 'r/pod.log.rest'",
  );
  expect(readFileSync(run.file('pod.log.partial'), 'utf8')).toBe(lines[0]!);
  expect(readFileSync(run.file('pod.log.rest'), 'utf8')).toBe(lines.slice(3).join(''));
  cluster.instead = () => undefined;
  expect((await act('--run', 'r')).exit).toBe(0);
  expect(['pod.log.failed-1', 'pod.log.failed-1.rest', 'pod.log.rest'].map(run.has)).toEqual([
    true,
    true,
    false,
  ]);
  expect(readFileSync(run.file('MANIFEST.sha256'), 'utf8')).not.toContain('rest');
});

test('a run that waits for room says until when, and once who tells whether there ever can be any', async () => {
  await planned('r');
  const makePod = cluster.makePod.bind(cluster);
  cluster.endless = true;
  cluster.makePod = (job, uid) => {
    const pod = makePod(job, uid);
    delete pod.spec.nodeName;
    const message = '0/2 nodes are available: 2 Insufficient cpu.';
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
    pod.status = { phase: 'Pending', qosClass: 'Guaranteed', conditions };
    return pod;
  };
  const stop = new AbortController();
  let asked = 0;
  // Of the Job and of its pod, again and again.
  cluster.instead = (_, path) => {
    if (path.endsWith('/events') && ++asked > 4) stop.abort('SIGINT');
    return undefined;
  };
  const { stderr } = await runTool(
    (args, world) => main(args, { ...world, random: (bytes) => randomBytes(bytes) }),
    ['--run', 'r'],
    { cwd: directory, env: { KUBECONFIG: kubeconfig }, interrupted: stop.signal },
  );
  expect(stderr).toMatch(
    /'r': no node has room for its pod now: 0\/2 nodes .*; waiting until its Job's deadline, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/,
  );
  expect(stderr.split("'k8sbench preflight --run r' tells whether any node could ever hold it")).toHaveLength(
    2,
  );
});

describe('a runner that is killed between two writes', () => {
  /** job.json as it was when the Job was about to be removed, and the run as such a runner would have left it. */
  const killedAtRemoval = async (run: RunDirectory): Promise<void> => {
    let job: Job | undefined;
    cluster.instead = (method) => {
      if (method === 'DELETE') job ??= jobOf(run);
      return undefined;
    };
    await act('--run', run.name);
    cluster.instead = () => undefined;
    // Its pods go a moment after it.
    while (cluster.pods.size > 0) await Bun.sleep(20);
    rmSync(run.file('MANIFEST.sha256'), { force: true });
    const { runner: _runner, ...rest } = job!;
    writeFileSync(run.file('job.json'), JSON.stringify(rest));
  };

  test('leaves to the next what the session came to: two pods stay two pods', async () => {
    const run = await planned('r');
    const makePod = cluster.makePod.bind(cluster);
    cluster.makePod = (job, uid) => (makePod(job, uid), makePod(job, 'second'));
    await killedAtRemoval(run);
    const { exit, stderr } = await act('--run', 'r');
    expect([exit, stderr.includes('a second pod was started for it')]).toEqual([5, true]);
    expect(jobOf(run)).toMatchObject({ outcome: 'invalid', exit: 5 });
    expect(jobOf(run)).not.toHaveProperty('ending');
  });

  test.each([[['--run', 'r']], [['cancel', '--run', 'r']], [['delete', '--run', 'r']]])(
    'a session whose log is saved is done, whatever comes next (%j)',
    async (words) => {
      const run = await planned('r');
      await killedAtRemoval(run);
      expect((await act(...words)).exit).toBe(0);
      expect(jobOf(run)).toMatchObject({ outcome: 'done', exit: 0 });
      expect(run.has('MANIFEST.sha256')).toBe(true);
    },
  );

  test('job.json says that another session is measured only once the earlier log is kept aside', async () => {
    const run = await planned('r');
    expect((await act('--run', 'r')).exit).toBe(0);
    const there: boolean[] = [];
    const watched: RunDirectory = {
      ...run,
      writeJson: (name, value) => (there.push(run.has('pod.log')), run.writeJson(name, value)),
    };
    await runTool(
      async (_, world) => (claim(watched, readRun(run), world, { attaches: false, seen: {} }), EXIT.done),
      [],
    );
    expect(there).toEqual([false]);
    expect(run.has('pod.log.done-1')).toBe(true);
  });

  test('before MANIFEST.sha256: it is written now, and nothing is measured again', async () => {
    for (const words of [[], ['--nodes', 'n1,n2']]) {
      const name = `r${words.length}`;
      const run = await planned(name, ...words);
      expect((await act('--run', name)).exit).toBe(0);
      const manifest = readFileSync(run.file('MANIFEST.sha256'), 'utf8');
      rmSync(run.file('MANIFEST.sha256'));
      cluster.asked.length = 0;
      expect((await act('--run', name)).exit).toBe(0);
      expect([cluster.asked, readFileSync(run.file('MANIFEST.sha256'), 'utf8')]).toEqual([[], manifest]);
    }
    const other = runDirectory(join(directory, 'r0'), 'r0');
    rmSync(other.file('MANIFEST.sha256'));
    writeFileSync(other.file('pod.log'), readFileSync(other.file('pod.log'), 'utf8').replace('note', 'Note'));
    expect((await act('--run', 'r0')).exit).toBe(0);
    expect(other.has('pod.log.done-1')).toBe(true);
  });
});

test('a session that is no longer as it was measured stops those beside it', async () => {
  const run = await planned('r', '--nodes', 'n1,n2');
  expect((await act('--run', 'r/r-n1')).exit).toBe(0);
  writeFileSync(run.file('r-n1/pod.log'), 'changed');
  cluster.endless = true;
  const { exit, stderr } = await act('--run', 'r');
  expect([exit, cluster.jobs.size]).toEqual([1, 0]);
  expect(stderr).toContain("'r/r-n1/pod.log' was changed");
  expect(JSON.parse(readFileSync(run.file('r-n2/job.json'), 'utf8'))).toMatchObject({
    outcome: 'interrupted',
  });
});

test('a Job that can not be removed after a failure is told of, with what to do', async () => {
  await planned('r');
  cluster.instead = (method, path) =>
    method === 'DELETE' || path.endsWith('/pods')
      ? Response.json({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }, { status: 403 })
      : undefined;
  const { exit, stderr } = await act('--run', 'r');
  expect([exit, cluster.jobs.size]).toEqual([1, 1]);
  expect(stderr).toContain("the Job 'r' may be left: k8sbench run-session delete --run r");
});

describe('an error of this machine', () => {
  const full = (): Error =>
    Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write', errno: -28 });

  test.each([false, true])('leaves what was measured in the cluster (the pod ended: %p)', async (ended) => {
    cluster.endless = !ended;
    const run = await planned('r');
    const { PodLog } = await import('../../tools/run-session/cluster/pod-log.ts');
    const take = PodLog.prototype.take;
    PodLog.prototype.take = () => {
      throw full();
    };
    try {
      const { exit, stderr, stdout } = await act('--run', 'r');
      expect([exit, stdout]).toEqual([1, '']);
      expect(stderr).toContain("can't write 'r': no space left on the device");
      expect(stderr).toContain('k8sbench run-session --run r');
    } finally {
      PodLog.prototype.take = take;
    }
    expect(cluster.jobs.size).toBe(1);
    expect(jobOf(run).outcome).toBe('running');
    if (!ended) {
      PodLog.prototype.take = () => {
        throw full();
      };
      const cancelled = await act('cancel', '--run', 'r').finally(() => (PodLog.prototype.take = take));
      expect([cancelled.exit, jobOf(run).outcome]).toEqual([1, 'running']);
      expect(cancelled.stderr).toContain("'r' was not cancelled: can't write 'r'");
      return;
    }
    expect((await act('--run', 'r')).exit).toBe(0);
    expect(readFileSync(run.file('pod.log'), 'utf8')).toBe(cluster.log.whole);
  });
});
