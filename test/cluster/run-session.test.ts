/** Sessions in the cluster that go well, and runners that are killed, stopped and called again. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { RunDirectory } from '../../shared/rundir.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { real, small } from './fault.ts';
import { until } from './processes.ts';
import {
  type Bed,
  expectWhole,
  jobOf,
  makeBed,
  planned,
  session,
  start,
  untilEvent,
  untilNothingIsLeft,
} from './session-runs.ts';
import { sideBySide } from './side-by-side.ts';
import { admin, kubeconfig, node1 } from './the-cluster.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

let bed: Bed;
beforeAll(async () => {
  bed = await makeBed('session');
}, 120_000);
afterAll(() => bed.remove());

const usersOf = (path: string): Record<string, string>[] =>
  (parseForeignYaml(readFileSync(path, 'utf8'), path) as any).users.map((one: any) => one.user);

/** Keys and tokens that stand in files of their own. */
const secretFiles = (path: string): string[] =>
  usersOf(path)
    .flatMap((user) => [user['client-key'], user['tokenFile']])
    .filter((one) => one !== undefined)
    .map((one) => resolve(dirname(path), one));

/** What nobody else may learn of a kubeconfig: its tokens, and lines of its keys, as they are and as base64. */
const secretsOf = (path: string): string[] => {
  const keys = usersOf(path).flatMap((user) => user['client-key-data'] ?? []);
  const texts = [
    ...keys.map((one) => Buffer.from(one, 'base64').toString()),
    ...secretFiles(path).map((one) => readFileSync(one, 'utf8')),
  ];
  const lines = texts.flatMap((one) =>
    one.split('\n').filter((line) => line.length > 40 && !line.startsWith('-')),
  );
  const found = [...usersOf(path).flatMap((user) => user['token'] ?? []), ...keys, ...lines];
  if (found.length === 0) throw new Error(`'${path}' has neither token nor key`);
  return found;
};

/** Files of a run that tell one of them. */
const toldIn = (run: RunDirectory, secrets: readonly string[]): string[] =>
  readdirSync(run.path).filter((name) => {
    const text = readFileSync(run.file(name), 'utf8');
    return secrets.some((one) => text.includes(one));
  });

describe('a session that goes well', () => {
  test('as the user of the grant, in a restricted namespace; nothing secret and nothing else is left', async () => {
    const run = await planned(bed, { profile: 'durable-store' });
    const ended = await session(bed, run);
    expect(ended).toMatchObject({ exit: 0, stdout: `${run.name}\n` });
    await expectWhole(bed, run, 3);
    const cluster = JSON.parse(readFileSync(run.file('cluster.json'), 'utf8'));
    expect(cluster).toMatchObject({
      format: 'cluster/1',
      node: { name: node1 },
      image: bed.images.session,
    });
    expect(cluster.missing).toContain('node: not allowed');
    expect(toldIn(run, secretsOf(bed.kubeconfig))).toEqual([]);
    // Again: nothing to do.
    expect((await session(bed, run)).stderr).toContain('measured already');
  });

  test('as somebody with a client certificate: its key is in no file either', async () => {
    const by = { ...bed, kubeconfig };
    const run = await planned(by);
    expect(await session(by, run)).toMatchObject({ exit: 0 });
    expect(toldIn(run, secretsOf(kubeconfig))).toEqual([]);
    // The check can fail.
    writeFileSync(run.file('notes'), readFileSync(secretFiles(kubeconfig)[0] ?? kubeconfig));
    expect(toldIn(run, secretsOf(kubeconfig))).toEqual(['notes']);
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

/** Small enough to stand beside others. */
const beside = (rounds = 3): Promise<RunDirectory> =>
  planned(bed, { rounds, change: (manifest) => real(small(manifest)) });

const killedOnce = async (event: string): Promise<void> => {
  const run = await beside(40);
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
  await expectWhole(bed, run, 40);
  if (job) expect(jobOf(run).job!.uid).toBe(job.uid);
};
const STAGES = ['claimed', 'submitted', 'admitted', 'started', 'measuring'];

sideBySide(
  'attaching',
  {
    ...Object.fromEntries(
      STAGES.map((event) => [
        `a runner killed once it was ${event}: the next one has every sample once`,
        () => killedOnce(event),
      ]),
    ),

    async 'a runner killed between the request and its answer: its Job is found by its word'() {
      const run = await beside();
      const first = start(bed, ['--run', run.name, '--detach']);
      expect((await first.ended).exit).toBe(0);
      const { job, pod: _pod, ...before } = jobOf(run);
      writeFileSync(
        run.file('job.json'),
        JSON.stringify({ ...before, timeline: before.timeline.slice(0, 1) }),
      );
      expect((await session(bed, run)).exit).toBe(0);
      expect(jobOf(run).job).toEqual(job!);
      await expectWhole(bed, run, 3);
    },

    async 'detached, done without a runner, and collected; and a whole log whose runner was killed before it cleaned up'() {
      const run = await beside();
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
      await expectWhole(bed, run, 3);
      // Back to the moment between saving the log and removing the Job.
      const { exit: _exit, log: _log, ...job } = jobOf(run);
      writeFileSync(run.file('job.json'), JSON.stringify({ ...job, outcome: 'running' }));
      rmSync(run.file('MANIFEST.sha256'));
      expect((await session(bed, run)).exit).toBe(0);
      await expectWhole(bed, run, 3);
      expect(jobOf(run).job!.uid).toBe(uid);
    },

    async 'a second runner is refused while one follows; ^C stops, saves and removes'() {
      const run = await beside(900);
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
    },

    async 'a terminal that hangs up leaves it to itself'() {
      const run = await beside(40);
      const first = start(bed, ['--run', run.name]);
      await untilEvent(run, 'measuring');
      first.kill('SIGHUP');
      expect((await first.ended).stderr).toContain('attaches to it');
      expect((await session(bed, run)).exit).toBe(0);
      await expectWhole(bed, run, 40);
    },
  },
  4,
);
