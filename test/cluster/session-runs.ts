/** Runs of real sessions in the test cluster, as a user with the README's grant. */
import { expect } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { spawn } from 'node:child_process';
import { type Job, job as jobSchema } from '../../schemas/job.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import { parseForeignYaml } from '../../shared/yaml.ts';
import { main as plan } from '../../tools/plan/main.ts';
import { main as render } from '../../tools/render/main.ts';
import { manifestProblems } from '../../tools/run-session/manifest-file.ts';
import { runTool } from '../outside.ts';
import { explain } from './explain.ts';
import { LIGHT } from './light-profile.ts';
import { until } from './processes.ts';
import { pushedSessionImages, type SessionImages, sessionImages } from './session-image.ts';
import { admin, kubeconfig, makeNamespace, makeUser, node1, ownDirectory, scratch } from './the-cluster.ts';

const top = resolve(import.meta.dir, '../..');
export const PROGRAM = join(top, 'tools/run-session/main.ts');

export interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

/** The rules of a README's grants, by the name of their role. */
export const grants = (readme = 'tools/run-session/README.md'): Map<string, Rule[]> => {
  const text = readFileSync(join(top, readme), 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].flatMap((one) => one[1]!.split(/^---$/m));
  const roles = blocks.map(
    (one) => parseForeignYaml(one, readme) as { kind: string; metadata: { name: string }; rules: Rule[] },
  );
  return new Map(
    roles.filter((one) => one.kind?.endsWith('Role')).map((one) => [one.metadata.name, one.rules]),
  );
};

export interface Right {
  verb: string;
  resource: string;
}

/** Each verb of the rules by itself. */
export const rightsIn = (rules: readonly Rule[]): Right[] =>
  rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => ({ verb, resource }))),
  );

/** The rules with one verb less. */
export const without = (rules: readonly Rule[], { verb, resource }: Right): Rule[] =>
  rules.flatMap((rule) =>
    rule.resources
      .map((one) => ({
        ...rule,
        resources: [one],
        verbs: rule.verbs.filter((word) => one !== resource || word !== verb),
      }))
      .filter((one) => one.verbs.length > 0),
  );

/** A kubeconfig of the administrator's cluster for another user's token. */
export const kubeconfigWith = (path: string, token: string): string => {
  const config = parseForeignYaml(readFileSync(kubeconfig, 'utf8'), kubeconfig) as any;
  for (const one of config.users) one.user = { token };
  for (const { cluster } of config.clusters)
    if (cluster['certificate-authority'])
      cluster['certificate-authority'] = resolve(kubeconfig, '..', cluster['certificate-authority']);
  writeFileSync(path, JSON.stringify(config));
  return path;
};

/** Everything that a test file's sessions share. */
export interface Bed {
  namespace: string;
  directory: string;
  kubeconfig: string;
  images: SessionImages;
  remove(): Promise<void>;
}

let pushed: Promise<SessionImages> | undefined;
/** On somebody's cluster: those that are named, or pushed to a registry. */
const imagesHere = (): Promise<SessionImages> => {
  if (ownDirectory !== undefined) return sessionImages(ownDirectory);
  const { env } = process;
  const [base, session] = [env['K8SBENCH_TEST_BASE_IMAGE'], env['K8SBENCH_TEST_SESSION_IMAGE']];
  if (base && session) return Promise.resolve({ base, session });
  const registry = env['K8SBENCH_TEST_REGISTRY'];
  if (!registry)
    throw new Error(
      `sessions on this cluster need images. Either K8SBENCH_TEST_REGISTRY=HOST:PORT, a registry that takes pushes over plain HTTP from here, and from which nodes pull by that very name (kind and k3d have recipes for one); or 'bun test/cluster/session-image.ts DIR', push both archives anywhere (skopeo copy oci-archive:DIR/node.oci.tar docker://…), and name them by the digests that the push tells (--digestfile): K8SBENCH_TEST_BASE_IMAGE for 'node', K8SBENCH_TEST_SESSION_IMAGE for 'session'`,
    );
  return (pushed ??= pushedSessionImages(registry));
};

export const makeBed = async (word: string, rules = grants().get('k8sbench-image')!): Promise<Bed> => {
  const images = await imagesHere();
  const namespace = await makeNamespace(word, { 'pod-security.kubernetes.io/enforce': 'restricted' });
  const files = scratch();
  const token = await makeUser(namespace.name, 'runner', rules);
  writeFileSync(join(files.path, 'light.json'), JSON.stringify(LIGHT));
  // Fixtures in memory: a sync of the machine's disk waits for whoever else writes there.
  writeFileSync(join(files.path, 'values.local.yaml'), 'scratchMedium: Memory\nscratchSize: 128Mi\n');
  return {
    namespace: namespace.name,
    directory: files.path,
    kubeconfig: kubeconfigWith(join(files.path, 'kubeconfig'), token),
    images,
    remove: async () => {
      await namespace.remove();
      files.remove();
    },
  };
};

let runs = 0;
/** Runs whose manifest was changed after it was rendered: run-session wants to be told. */
const edited = new Set<string>();

export interface Planned {
  /** Changes of the manifest before it is submitted. */
  change?(manifest: any): void;
  /** More words for `plan`. */
  words?: readonly string[];
  /** A file or a built-in profile, instead of one whose processes only wait. */
  profile?: string;
  image?: string;
  turns?: string;
  rounds?: number;
  node?: string;
}

/** A run, planned and rendered. */
export const planned = async (bed: Bed, options: Planned = {}): Promise<RunDirectory> => {
  const name = `k8sbench-test-${process.pid}-${++runs}`;
  const outside = { cwd: bed.directory, env: { PATH: process.env['PATH'], KUBECONFIG: bed.kubeconfig } };
  const words = options.words ?? ['--image', options.image ?? bed.images.session];
  const laid = await runTool(
    plan,
    [
      '--run',
      name,
      '--namespace',
      bed.namespace,
      '--profile',
      options.profile ?? join(bed.directory, 'light.json'),
      '--cpus',
      '1',
      '--turns',
      options.turns ?? '50',
      '--rounds',
      String(options.rounds ?? 3),
      '--memory',
      '512Mi',
      ...(options.node === '' ? [] : ['--node', options.node ?? node1]),
      ...words,
    ],
    outside,
  );
  if (laid.exit !== 0) throw new Error(laid.stderr);
  const rendered = await runTool(render, ['--run', name], outside);
  if (rendered.exit !== 0) throw new Error(rendered.stderr);
  const run = runDirectory(join(bed.directory, name), name);
  if (options.change) {
    const { formatYaml } = await import('../../shared/yaml-format.ts');
    const manifest = parseForeignYaml(readFileSync(run.file('manifest.yaml'), 'utf8'), 'manifest.yaml');
    options.change(manifest);
    writeFileSync(run.file('manifest.yaml'), formatYaml(manifest));
    edited.add(name);
  }
  return run;
};

export interface Ended {
  exit: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  said(): string;
}

/** How the last runner of a run ended. */
const endings = new Map<string, Ended>();

/** run-session as a process of its own. */
export const start = (bed: Bed, words: readonly string[]): Running => {
  const about = words[0] === '--run' && edited.has(words[1]!) ? ['--edited-manifest'] : [];
  const child = spawn(process.execPath, [PROGRAM, ...words, ...about], {
    cwd: bed.directory,
    env: { PATH: process.env['PATH'], HOME: bed.directory, KUBECONFIG: bed.kubeconfig },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const name = words[words.indexOf('--run') + 1]!;
  endings.delete(name);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => (stdout += part));
  child.stderr.on('data', (part) => (stderr += part));
  return {
    ended: new Promise((done) =>
      child.on('close', (exit, signal) => {
        const ended = { exit, signal, stdout, stderr };
        endings.set(name, ended);
        done(ended);
      }),
    ),
    kill: (signal) => void child.kill(signal),
    said: () => stderr,
  };
};

export const session = (bed: Bed, run: RunDirectory, ...words: string[]): Promise<Ended> =>
  start(bed, ['--run', run.name, ...words]).ended;

/** What `run-session list` says of a bed's namespace: states, by the runs' names. */
export const statesIn = async (bed: Bed): Promise<Record<string, string>> => {
  const { stdout } = await start(bed, ['list', '--namespace', bed.namespace, '--json']).ended;
  const listed = JSON.parse(stdout) as { name: string; state: string }[];
  return Object.fromEntries(listed.map((one) => [one.name, one.state]));
};

export const jobOf = (run: RunDirectory): Job => run.json('job.json', jobSchema);

/** Until something is so of a run, or its runner has ended without it. */
export const untilSo = async (
  run: RunDirectory,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> => {
  try {
    await until(`${run.name}: ${what}`, async () => {
      const ended = endings.get(run.name);
      if (await holds()) return true;
      if (ended?.exit) throw new Error(`ended with ${ended.exit}: ${ended.stderr}`);
      return false;
    });
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${await explain(run.name)}`, { cause: error });
  }
};

/** Until job.json's timeline has an event. */
export const untilEvent = (run: RunDirectory, event: string): Promise<void> =>
  untilSo(run, event, () => run.has('job.json') && jobOf(run).timeline.some((one) => one.event === event));

/** What of a run is left in the cluster: Jobs, and pods that are not on their way out. */
export const leftIn = async (bed: Bed, run: RunDirectory): Promise<string[]> => {
  const about = { namespace: bed.namespace };
  const jobs = await admin.list<any>('jobs', { ...about, fieldSelector: `metadata.name=${run.name}` });
  const pods = await admin.list<any>('pods', {
    ...about,
    labelSelector: `app.kubernetes.io/instance=${run.name}`,
  });
  return [
    ...jobs.map((one) => `job ${one.metadata.name}`),
    ...pods
      .filter((one) => one.metadata.deletionTimestamp === undefined)
      .map((one) => `pod ${one.metadata.name}`),
  ];
};

/** The garbage collector takes a Job's pod away a moment after the Job. */
export const untilNothingIsLeft = (bed: Bed, run: RunDirectory): Promise<void> =>
  until(`nothing left of ${run.name}`, async () => (await leftIn(bed, run)).length === 0);

/** The whole lines of what a run has of its log, finished or not. */
export const keptLines = (run: RunDirectory): string[] => {
  const name = ['pod.log', 'pod.log.partial'].find((one) => run.has(one));
  return name === undefined ? [] : readFileSync(run.file(name), 'utf8').split('\n').slice(0, -1);
};

/** The log's samples, and whether each stands in it once. */
export const samplesIn = (run: RunDirectory): string[] =>
  readFileSync(run.file('pod.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"t":"sample"'))
    .map((line) => JSON.parse(line))
    .map((one) => `${one.target} ${one.turns} ${one.sample}`);

/** Every sample of three targets, once, and a directory that is whole. */
export const expectWhole = async (bed: Bed, run: RunDirectory, rounds: number): Promise<void> => {
  const samples = samplesIn(run);
  expect([samples.length, new Set(samples).size]).toEqual([3 * rounds, 3 * rounds]);
  expect(await manifestProblems(run, [])).toEqual([]);
  expect(jobOf(run)).toMatchObject({ outcome: 'done', exit: 0 });
  expect(run.has('pod.log.partial')).toBe(false);
  await untilNothingIsLeft(bed, run);
};
