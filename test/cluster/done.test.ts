/**
 * The whole way, as its users go it: `k8sbench compare` of the built-in profile on two nodes that share this machine's cores,
 * in a restricted namespace, with the README's grant; with and without the cluster reads, by image and by bundle, alone and
 * side by side; killed halfway and called again. However noisy it was, what is left is whole: every sample once, in a verified
 * log, judged with a line in the history or refused with the reasons.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { analysis as analysisSchema } from '../../schemas/analysis.ts';
import { cluster as clusterSchema } from '../../schemas/cluster.ts';
import { nodes as nodesSchema } from '../../schemas/nodes.ts';
import { noise as noiseSchema } from '../../schemas/noise.ts';
import { spread as spreadSchema } from '../../schemas/spread.ts';
import { trackerLine } from '../../schemas/tracker.ts';
import { readAttempts } from '../../shared/attempts.ts';
import { check } from '../../shared/read.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import { SessionLog } from '../../shared/session-log.ts';
import { manifestProblems } from '../../tools/run-session/manifest-file.ts';
import { until } from './processes.ts';
import { makeArtifacts } from './session-image.ts';
import { type Bed, grants, jobOf, makeBed, samplesIn, untilNothingIsLeft } from './session-runs.ts';
import { admin, connected, node1, node2 } from './the-cluster.ts';

const PROGRAM = resolve(import.meta.dir, '../../tools/k8sbench/main.ts');
const SIZES = [50, 500];
const ROUNDS = 12;
const TARGETS = 3;
const SAMPLES = SIZES.length * ROUNDS * TARGETS;
/** For one run: half a minute on a quiet machine. */
const BUDGET_MS = 300_000;

type Delivery = 'image' | 'bundle';
let beds: Record<'reads' | 'alone', Bed>;
let bundle: string;
const made: { resource: 'clusterroles' | 'clusterrolebindings'; name: string; uid: string }[] = [];

/** Gives the user of a bed the README's optional cluster reads. */
const allowClusterReads = async (bed: Bed): Promise<void> => {
  const name = `k8sbench-reads-${bed.namespace}`;
  const make = async (resource: (typeof made)[number]['resource'], object: object): Promise<void> => {
    const { metadata } = await admin.create<any>(resource, {}, { metadata: { name }, ...object });
    made.push({ resource, name, uid: metadata.uid });
  };
  await make('clusterroles', { rules: grants().get('k8sbench-cluster-reads') });
  await make('clusterrolebindings', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: 'runner', namespace: bed.namespace }],
  });
  const user = connected({ kubeconfig: bed.kubeconfig });
  await until('the cluster reads', () =>
    user.list('pods', {}).then(
      () => true,
      () => false,
    ),
  );
};

beforeAll(async () => {
  const rules = grants().get('k8sbench-bundle')!;
  beds = { reads: await makeBed('done-reads', rules), alone: await makeBed('done', rules) };
  await allowClusterReads(beds.reads);
  bundle = join(beds.reads.directory, 'bundle');
  await makeArtifacts(bundle);
}, 120_000);
afterAll(async () => {
  for (const { resource, name, uid } of made) await admin.delete(resource, { name }, uid);
  for (const bed of Object.values(beds ?? {})) await bed.remove();
});

interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** `k8sbench compare` as a process of its own, in a directory without any settings. */
const compare = (bed: Bed, words: readonly string[]): { ended: Promise<Ended>; kill: () => void } => {
  const cwd = join(bed.directory, 'work');
  mkdirSync(cwd, { recursive: true });
  const session = `--profile durable-store --turns ${SIZES} --rounds ${ROUNDS} --cpus 1`.split(' ');
  const child = spawn(process.execPath, [PROGRAM, 'compare', ...session, ...words], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: bed.directory,
      KUBECONFIG: bed.kubeconfig,
      K8SBENCH_NAMESPACE: bed.namespace,
      NO_COLOR: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => (stdout += part));
  child.stderr.on('data', (part) => (stderr += part));
  return {
    ended: new Promise((done) => child.on('close', (exit) => done({ exit, stdout, stderr }))),
    kill: () => void child.kill('SIGKILL'),
  };
};

const sessionsOf = (run: RunDirectory): RunDirectory[] =>
  run.has('spread.json')
    ? run.json('spread.json', spreadSchema).children.map((one) => runDirectory(run.file(one.dir)))
    : [run];

/** A session's log is whole, its samples stand in it once, and everything about it is kept. */
const expectWholeSession = async (session: RunDirectory): Promise<void> => {
  const log = new SessionLog({ repeats: 'refuse' });
  log.feedBlock(readFileSync(session.file('pod.log')), () => undefined);
  expect(log.state()).toMatchObject({ complete: true, problems: [] });
  const samples = samplesIn(session);
  expect([samples.length, new Set(samples).size]).toEqual([SAMPLES, SAMPLES]);
  expect(jobOf(session)).toMatchObject({ outcome: 'done', exit: 0 });
  expect(session.has('manifest.yaml')).toBe(true);
  expect(await manifestProblems(session, [])).toEqual([]);
};

/** Judged, with its lines in the history; or refused, with its reasons told and kept. */
const expectJudgedOrRefused = (run: RunDirectory, { exit, stdout, stderr }: Ended): void => {
  const noise = run.json('noise.json', noiseSchema);
  const analysis = run.json('analysis.json', analysisSchema);
  const track = join(run.path, '../track.jsonl');
  const lines = existsSync(track)
    ? readFileSync(track, 'utf8')
        .trim()
        .split('\n')
        .map((line) => check(trackerLine, { value: JSON.parse(line) }, track))
        .filter((line) => line.run.endsWith(run.name))
    : [];
  const [attempt, ...others] = readAttempts(run).filter((one) => one.run === run.name);
  expect(others).toEqual([]);
  expect(noise.judged).toBe(exit === 0);
  if (exit === 0) {
    expect(lines.map((line) => line.turns)).toEqual(SIZES);
    expect(stdout.trim().split('\n').length).toBe(SIZES.length);
    expect(analysis.conclusions.length).toBeGreaterThan(0);
    expect(attempt).toMatchObject({ outcome: 'judged', exit: 0 });
    return;
  }
  expect({ exit, stdout, lines }).toEqual({ exit: 3, stdout: '', lines: [] });
  expect(noise.reasons.length).toBeGreaterThan(0);
  for (const reason of noise.reasons) expect(stderr).toContain(reason);
  expect(stderr).toContain('what to do: ');
  expect(attempt).toMatchObject({ outcome: 'refused', exit: 3, reasons: noise.reasons });
};

const DERIVED = ['results.jsonl', 'seeds.jsonl', 'ENV.txt', 'noise.json', 'analysis.json', 'nodes.json'];

/** Everything that must hold of a run that has ended, whatever happened on the way. */
const expectDone = async (bed: Bed, run: RunDirectory, ended: Ended, sessions: number): Promise<void> => {
  expect([0, 3], ended.stderr).toContain(ended.exit!);
  expect(sessionsOf(run).length).toBe(sessions);
  for (const session of sessionsOf(run)) await expectWholeSession(session);
  if (sessions > 1) {
    const { children } = run.json('spread.json', spreadSchema);
    expect(children.map((one) => one.outcome)).toEqual(children.map(() => 'done'));
    expect(new Set(children.map((one) => one.node))).toEqual(new Set([node1, node2]));
    expect(
      await manifestProblems(
        run,
        children.map((one) => one.run),
      ),
    ).toEqual([]);
  }
  for (const name of DERIVED) expect([name, run.has(name)]).toEqual([name, true]);
  expect(readFileSync(run.file('results.jsonl'), 'utf8').trim().split('\n').length).toBe(SAMPLES * sessions);
  expectJudgedOrRefused(run, ended);
  for (const session of sessionsOf(run)) await untilNothingIsLeft(bed, session);
};

const wordsOf = (delivery: Delivery): string[] =>
  delivery === 'image'
    ? ['--image', beds.reads.images.session]
    : ['--bundle', bundle, '--base-image', beds.reads.images.base];

const CASES: [Delivery, string, string[], number][] = [
  ['image', 'alone', ['--pick-node'], 1],
  ['image', 'side by side', ['--spread', '2'], 2],
  ['bundle', 'alone', ['--pick-node'], 1],
  ['bundle', 'side by side', ['--spread', '2'], 2],
];

const directoryOf = (bed: Bed, name: string): RunDirectory =>
  runDirectory(join(bed.directory, 'work/out', name), name);

describe('with the cluster reads', () => {
  test.each(CASES)(
    'by %s, %s',
    async (delivery, how, words, sessions) => {
      const name = `${delivery}-${how}`.replaceAll(' ', '-');
      const run = directoryOf(beds.reads, name);
      const ended = await compare(beds.reads, ['--run', `out/${name}`, ...wordsOf(delivery), ...words]).ended;
      await expectDone(beds.reads, run, ended, sessions);
      expect(run.json('nodes.json', nodesSchema)).toMatchObject({ basis: 'cluster', warnings: [] });
      for (const session of sessionsOf(run))
        expect(session.json('cluster.json', clusterSchema)).toMatchObject({
          node: { info: { operatingSystem: 'linux' } },
          missing: [],
        });
    },
    BUDGET_MS,
  );
});

/** How many samples of a session have been written down. */
const arrived = (session: RunDirectory): number => {
  const name = ['pod.log', 'pod.log.partial'].find((one) => session.has(one));
  return name ? readFileSync(session.file(name), 'utf8').split('"t":"sample"').length - 1 : 0;
};

describe('without them, killed halfway and called again', () => {
  test.each(CASES)(
    'by %s, %s',
    async (delivery, how, words, sessions) => {
      const name = `${delivery}-${how}`.replaceAll(' ', '-');
      const run = directoryOf(beds.alone, name);
      const all = ['--run', `out/${name}`, ...wordsOf(delivery), ...words, '--nodes', `${node1},${node2}`];
      const first = compare(beds.alone, all);
      const half = (SAMPLES * sessions) / 2;
      const sum = (): number => sessionsOf(run).reduce((total, one) => total + arrived(one), 0);
      await until('half of its samples', () => sum() >= half, BUDGET_MS / 2);
      first.kill();
      expect((await first.ended).exit).toBeNull();
      expect(run.has('MANIFEST.sha256')).toBe(false);
      const ended = await compare(beds.alone, all).ended;
      expect(ended.stderr).toContain('attaching to ');
      await expectDone(beds.alone, run, ended, sessions);
      expect(run.json('nodes.json', nodesSchema)).toMatchObject({ basis: 'candidates' });
      for (const session of sessionsOf(run))
        expect(session.json('cluster.json', clusterSchema).missing).toEqual(['node: not allowed']);
    },
    BUDGET_MS,
  );
});
