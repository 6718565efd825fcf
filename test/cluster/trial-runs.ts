/** Runs of small trials in the test cluster: real Jobs whose gate and agent are a few words of shell, as a user with the README's grant. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TrialLine } from '../../schemas/trial-line.ts';
import { type Trials, trials as trialsSchema } from '../../schemas/trials.ts';
import { sha256 } from '../../shared/files.ts';
import { jsonText, problemsOf } from '../../shared/read.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import { formatYaml } from '../../shared/yaml-format.ts';
import { until } from './processes.ts';
import { grants, kubeconfigWith, type Rule } from './session-runs.ts';
import { admin, image, makeNamespace, makeUser, scratch } from './the-cluster.ts';

const top = resolve(import.meta.dir, '../..');
const PROGRAM = join(top, 'tools/trials/main.ts');
export const MODEL = 'scripted';
/** The tasks' image as trials name it: pinned, also where the cluster's own is not. */
const TASK_IMAGE = image.includes('@sha256:') ? image : `${image}@sha256:${'a'.repeat(64)}`;

export interface TrialBed {
  namespace: string;
  directory: string;
  kubeconfig: string;
  remove(): Promise<void>;
}

/** Everything that the README says they need. */
export const GRANT: readonly Rule[] = grants('tools/trials/README.md').get('k8sbench-trials')!;

export const makeTrialBed = async (word: string, rules = GRANT): Promise<TrialBed> => {
  const namespace = await makeNamespace(word);
  const files = scratch();
  const token = await makeUser(namespace.name, 'runner', [...rules]);
  return {
    namespace: namespace.name,
    directory: files.path,
    kubeconfig: kubeconfigWith(join(files.path, 'kubeconfig'), token),
    remove: async () => {
      await namespace.remove();
      files.remove();
    },
  };
};

/** What becomes of one trial. */
export interface Fate {
  task: string;
  arm?: string;
  attempt?: number;
  /** What its gate gives; null with `more` for a line without verdict. */
  reward?: number | null;
  more?: Partial<TrialLine>;
  /** The gate's shell, with $LINE; the default says the line as its last words and prints it. */
  gate?: string;
  /** The agent's shell. */
  agent?: string;
  change?(job: any): void;
}

/** The line that a trial's gate gives. */
export const lineOf = ({ task, arm = 'pi', attempt = 1, reward = 1, more }: Fate): TrialLine => ({
  t: 'trial',
  task,
  arm,
  attempt,
  model: MODEL,
  image: TASK_IMAGE,
  reward,
  agentExit: 0,
  agentWallMs: 1200,
  agentCpuMs: 300,
  assistantMessages: 2,
  usage: { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 120 },
  verifierExit: 0,
  verifierWallMs: 80,
  ...more,
});

export const SAID = 'echo "$LINE" >/dev/termination-log; echo "$LINE"';

const container = (name: string, script: string, env: object[] = []): object => ({
  name,
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['sh', '-c', script],
  env,
  resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
});

const jobOf = (run: string, namespace: string, name: string, fate: Fate): object => {
  const labels = { 'app.kubernetes.io/managed-by': 'k8sbench', 'app.kubernetes.io/part-of': run };
  const line = { name: 'LINE', value: JSON.stringify(lineOf(fate)) };
  const job: any = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, labels },
    spec: {
      backoffLimit: 0,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          terminationGracePeriodSeconds: 1,
          containers: [
            container('trial', fate.agent ?? 'true'),
            container('gate', fate.gate ?? SAID, [line]),
          ],
        },
      },
    },
  };
  fate.change?.(job);
  return job;
};

let runs = 0;

/** A run's directory, as `trials --out` makes one: the tasks, arms and attempts that the fates name, each of them once. */
export const trialRun = (bed: TrialBed, fates: readonly Fate[]): { run: RunDirectory; trials: Trials } => {
  const name = `k8sbench-trials-${process.pid}-${++runs}`;
  const path = join(bed.directory, name);
  mkdirSync(path);
  const run = runDirectory(path, name);
  const distinct = (all: readonly string[]): string[] => [...new Set(all)];
  const jobs = fates.map((fate, at) => {
    const job = `${name}-${at + 1}`;
    return { fate, job, text: formatYaml(jobOf(name, bed.namespace, job, fate)) };
  });
  const trials: Trials = {
    format: 'trials/1',
    run: name,
    namespace: bed.namespace,
    model: { id: MODEL, pin: '1'.repeat(64), url: 'http://nowhere:8000/v1' },
    staged: '2'.repeat(64),
    dataset: { name: 'made-up', commit: '3'.repeat(40) },
    inputs: {},
    tasks: distinct(fates.map((one) => one.task)),
    arms: distinct(fates.map((one) => one.arm ?? 'pi')),
    attempts: Math.max(...fates.map((one) => one.attempt ?? 1)),
    relaxed: [],
    trials: jobs.map(({ fate, job, text }) => ({
      job,
      task: fate.task,
      arm: fate.arm ?? 'pi',
      attempt: fate.attempt ?? 1,
      image: TASK_IMAGE,
      sha256: sha256(text),
      limit_s: 600,
    })),
  };
  const problems = problemsOf(trialsSchema, { value: trials }, 'trials.json');
  if (problems.length > 0) throw new Error(problems.join('\n'));
  writeFileSync(run.file('trials.json'), jsonText(trials));
  writeFileSync(run.file('trials.yaml'), jobs.map((one) => one.text).join('---\n'));
  return { run, trials };
};

export interface Ended {
  exit: number | null;
  stdout: string;
  stderr: string;
}

/** The program as a process of its own. */
export const start = (bed: TrialBed, words: readonly string[]) => {
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    cwd: bed.directory,
    env: { PATH: process.env['PATH'], HOME: bed.directory, KUBECONFIG: bed.kubeconfig },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (part) => (stdout += part));
  child.stderr.on('data', (part) => (stderr += part));
  return {
    ended: new Promise<Ended>((done) => child.on('close', (exit) => done({ exit, stdout, stderr }))),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    said: () => stderr,
  };
};

export const trialsTool = (bed: TrialBed, verb: string, run: RunDirectory, ...words: string[]) =>
  start(bed, [verb, '--run', run.name, ...words]).ended;

export const linesIn = (run: RunDirectory): TrialLine[] =>
  run.has('trials.jsonl')
    ? readFileSync(run.file('trials.jsonl'), 'utf8')
        .split('\n')
        .filter((one) => one !== '')
        .map((one) => JSON.parse(one) as TrialLine)
    : [];

const selector = ({ name }: RunDirectory): string => `app.kubernetes.io/part-of=${name}`;

export const jobsOf = (bed: TrialBed, run: RunDirectory): Promise<any[]> =>
  admin.list<any>('jobs', { namespace: bed.namespace, labelSelector: selector(run) });

export const podsOf = (bed: TrialBed, run: RunDirectory): Promise<any[]> =>
  admin.list<any>('pods', { namespace: bed.namespace, labelSelector: selector(run) });

/** The pod of a trial, once its gate, or a named container, runs. */
export const runningPod = async (bed: TrialBed, job: string, wanted = 'gate'): Promise<any> => {
  let found: any;
  await until(`the pod of ${job}`, async () => {
    const pods = await admin.list<any>('pods', {
      namespace: bed.namespace,
      labelSelector: `batch.kubernetes.io/job-name=${job}`,
    });
    found = pods.find((pod) =>
      pod.status.containerStatuses?.some((one: any) => one.name === wanted && one.state.running),
    );
    return found !== undefined;
  });
  return found;
};
