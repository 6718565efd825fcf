/** Sessions in the cluster that go well, and runners that are killed, stopped and called again. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { manifestProblems } from '../../tools/run-session/manifest-file.ts';
import { blocking } from './faults.ts';
import { pidOf, until } from './processes.ts';
import {
  type Bed,
  jobOf,
  makeBed,
  planned,
  samplesIn,
  session,
  start,
  untilEvent,
  untilNothingIsLeft,
} from './session-runs.ts';
import { admin, ownDirectory } from './the-cluster.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await makeBed('session');
}, 120_000);
afterAll(() => bed.remove());

/** Every sample of 3 rounds of three targets, once, and a directory that is whole. */
const expectWhole = async (run: Awaited<ReturnType<typeof planned>>, rounds = 3): Promise<void> => {
  const samples = samplesIn(run);
  expect(samples.length).toBe(3 * rounds);
  expect(new Set(samples).size).toBe(samples.length);
  expect(await manifestProblems(run, [])).toEqual([]);
  expect(jobOf(run)).toMatchObject({ outcome: 'done', exit: 0 });
  expect(run.has('pod.log.partial')).toBe(false);
  await untilNothingIsLeft(bed, run);
};

describe('a session that goes well', () => {
  test('as the user of the grant, in a restricted namespace; nothing secret and nothing else is left', async () => {
    const run = await planned(bed);
    const ended = await session(bed, run);
    expect(ended).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
    await expectWhole(run);
    const cluster = JSON.parse(readFileSync(run.file('cluster.json'), 'utf8'));
    expect(cluster).toMatchObject({
      format: 'cluster/1',
      node: { name: 'node-1' },
      image: bed.images.session,
    });
    expect(cluster.missing).toContain('node: not allowed');
    const config = parseForeignYaml(readFileSync(bed.kubeconfig, 'utf8'), 'kubeconfig') as any;
    const token = config.users[0].user.token as string;
    for (const name of readdirSync(run.path))
      expect(readFileSync(run.file(name), 'utf8')).not.toContain(token);
    // Again: nothing to do.
    expect((await session(bed, run)).stderr).toContain('measured already');
  });

  test('a Job of this name that another run made is left alone', async () => {
    const run = await planned(bed);
    const manifest = parseForeignYaml(readFileSync(run.file('manifest.yaml'), 'utf8'), 'manifest') as any;
    manifest.spec.suspend = true;
    const other = await admin.create<any>('jobs', { namespace: bed.namespace }, manifest);
    const ended = await session(bed, run);
    expect(ended).toMatchObject({ exit: 1, stdout: '' });
    expect(ended.stderr).toContain(`has a Job '${run.name}' that this run did not create; it is left alone`);
    expect((await admin.get('jobs', { namespace: bed.namespace, name: run.name })).metadata.uid).toBe(
      other.metadata.uid,
    );
    await admin.delete('jobs', { namespace: bed.namespace, name: run.name }, other.metadata.uid);
  });
});

describe('attaching', () => {
  test.each(['claimed', 'submitted', 'admitted', 'started', 'measuring'])(
    'a runner killed once it was %s: the next one has every sample once',
    async (event) => {
      const run = await planned(bed, { rounds: 4 });
      const first = start(bed, ['--run', run.name]);
      await untilEvent(run, event);
      if (event === 'measuring')
        await until(
          'some of its log',
          () =>
            run.has('pod.log.partial') &&
            readFileSync(run.file('pod.log.partial'), 'utf8').includes('"t":"sample"'),
        );
      first.kill('SIGKILL');
      expect((await first.ended).signal).toBe('SIGKILL');
      const { job } = jobOf(run);
      const second = await session(bed, run);
      expect(second.exit).toBe(0);
      expect(second.stderr).toContain('attaching');
      await expectWhole(run, 4);
      if (job) expect(jobOf(run).job!.uid).toBe(job.uid);
    },
  );

  test('a runner killed between the request and its answer: its Job is found by its word', async () => {
    const run = await planned(bed);
    const first = start(bed, ['--run', run.name, '--detach']);
    expect((await first.ended).exit).toBe(0);
    const { job, pod: _pod, ...before } = jobOf(run);
    writeFileSync(run.file('job.json'), JSON.stringify({ ...before, timeline: before.timeline.slice(0, 1) }));
    expect((await session(bed, run)).exit).toBe(0);
    expect(jobOf(run).job).toEqual(job!);
    await expectWhole(run);
  });

  test('detached, done without a runner, and collected; and a whole log whose runner was killed before it cleaned up', async () => {
    const run = await planned(bed);
    const detached = await session(bed, run, '--detach');
    expect(detached).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
    expect(jobOf(run).outcome).toBe('running');
    const uid = jobOf(run).job!.uid;
    await until('its end', async () =>
      (
        (await admin.get<any>('jobs', { namespace: bed.namespace, name: run.name })).status.conditions ?? []
      ).some((one: any) => one.type === 'Complete'),
    );
    expect((await session(bed, run)).exit).toBe(0);
    await expectWhole(run);
    // Back to the moment between saving the log and removing the Job.
    const { exit: _exit, log: _log, ...job } = jobOf(run);
    writeFileSync(run.file('job.json'), JSON.stringify({ ...job, outcome: 'running' }));
    rmSync(run.file('MANIFEST.sha256'));
    expect((await session(bed, run)).exit).toBe(0);
    await expectWhole(run);
    expect(jobOf(run).job!.uid).toBe(uid);
  });

  test('a second runner is refused while one follows; ^C stops, saves and removes', async () => {
    const run = await planned(bed, { rounds: 60 });
    const first = start(bed, ['--run', run.name]);
    await untilEvent(run, 'measuring');
    const second = await session(bed, run);
    expect(second.exit).toBe(1);
    expect(second.stderr).toContain('is being measured by process');
    first.kill('SIGINT');
    const ended = await first.ended;
    expect(ended).toMatchObject({ exit: 130, stdout: '' });
    expect(ended.stderr).toContain('stopped by SIGINT before it was done');
    const log = readFileSync(run.file('pod.log'), 'utf8');
    expect(log).toContain('"code":"interrupted"');
    expect(jobOf(run)).toMatchObject({ outcome: 'interrupted', exit: 130 });
    await untilNothingIsLeft(bed, run);
    // The same command measures anew.
    expect(run.has('MANIFEST.sha256')).toBe(false);
  });

  test('a terminal that hangs up leaves it to itself', async () => {
    const run = await planned(bed, { rounds: 6 });
    const first = start(bed, ['--run', run.name]);
    await untilEvent(run, 'measuring');
    first.kill('SIGHUP');
    expect((await first.ended).stderr).toContain('attaches to it');
    expect((await session(bed, run)).exit).toBe(0);
    await expectWhole(run, 6);
  });
});

describe('an API server', () => {
  test('killed, its history forgotten, and started again, costs nothing', async () => {
    const run = await planned(bed, { rounds: 20 });
    const first = start(bed, ['--run', run.name]);
    await untilEvent(run, 'measuring');
    // Its watches come from before what is remembered: they list again.
    blocking(ownDirectory!, 'forget-history');
    const ended = await first.ended;
    expect(ended.exit).toBe(0);
    await expectWhole(run, 20);
  });

  test('that stands still for a minute costs nothing, nor a session that is submitted meanwhile', async () => {
    const [measured, submitted] = [
      await planned(bed, { rounds: 40 }),
      await planned(bed, { node: 'node-2' }),
    ];
    const first = start(bed, ['--run', measured.name]);
    await untilEvent(measured, 'measuring');
    const server = pidOf(ownDirectory!, 'kube-apiserver')!;
    process.kill(server, 'SIGSTOP');
    const second = start(bed, ['--run', submitted.name]);
    await Bun.sleep(62_000);
    process.kill(server, 'SIGCONT');
    const both = await Promise.all([first.ended, second.ended]);
    expect(both.map(({ exit }) => exit)).toEqual([0, 0]);
    expect(both[1].stderr).toContain('looking whether the Job was made');
    await expectWhole(measured, 40);
    await expectWhole(submitted);
  }, 180_000);
});
