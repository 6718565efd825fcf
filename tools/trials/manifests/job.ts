/** The Job of one trial. Pure: the same inputs give the same manifest. Spec §9. */
import type { ArmSettings } from '../../../schemas/arm-settings.ts';
import type { LockedTask } from '../../../schemas/tasks-lock.ts';
import { parseQuantity } from '../../../shared/quantity.ts';
import {
  labelsOf,
  MODEL,
  modelUrl,
  PROGRAM,
  RUN,
  stagedPath,
  TRIAL_CLAIM,
} from '../../../shared/task-run/names.ts';
import {
  jobOf,
  ONE_POD,
  podBasics,
  readClaim,
  resources,
  RESTRICTED,
  specVariable,
  USER,
} from '../../../shared/job/pod-parts.ts';
import type { TaskValues } from '../../../shared/task-run/settings.ts';
import type { PinnedModel } from '../../../shared/task-run/models.ts';
import type { GateSpec } from '../in-pod/gate.ts';
import type { PrepareSpec } from '../in-pod/prepare.ts';
import type { TrialSpec } from '../in-pod/trial.ts';
import { trialSecurity } from './security.ts';

/** What all trials of a run have alike. */
export interface RunFacts {
  run: string;
  staged: string;
  model: PinnedModel;
  values: TaskValues;
  trustSystem: boolean;
}

/** One trial. */
export interface TrialFacts {
  job: string;
  task: LockedTask;
  arm: ArmSettings;
  attempt: number;
}

/** For images to be pulled and the runtime to be copied, s. */
const START_S = 1800;
/** Between the parts of a trial: ending processes, looking around, copying tests, s. */
const BETWEEN_S = 600;
/** A trial's container shows a sign of life every 2 s; one that is starved of CPU may be late, s. */
const SILENCE_S = 120;
/** The version call, s. */
const VERSION_S = 120;
const PROCESSES = 4096;

/** From the agent's start to the gate's line, s. */
const trialSeconds = ({ agent_timeout_s, verifier_timeout_s }: LockedTask): number =>
  Math.ceil(VERSION_S + agent_timeout_s + verifier_timeout_s + BETWEEN_S);

/** When the kubelet ends its pod, s after it started. The gate ends a trial before. */
export const limitSeconds = (task: LockedTask): number => START_S + trialSeconds(task) + 60;

const gateSpec = ({ staged, model }: RunFacts, { task, arm, attempt }: TrialFacts): GateSpec => ({
  task: task.name,
  arm: arm.arm,
  attempt,
  model: model.id,
  image: task.image,
  staged,
  testsSha256: task.testsSha256,
  start_s: START_S,
  trial_s: trialSeconds(task),
  silence_s: SILENCE_S,
});

const trialSpec = ({ model, values, trustSystem }: RunFacts, { task, arm }: TrialFacts): TrialSpec => ({
  arm,
  model: {
    url: modelUrl(model.id, values.namespace),
    name: model.id,
    ...(model.model.contextTokens === undefined ? {} : { contextTokens: model.model.contextTokens }),
  },
  testsSha256: task.testsSha256,
  agent_s: task.agent_timeout_s,
  verifier_s: task.verifier_timeout_s,
  start_s: START_S,
  processes: PROCESSES,
  ...(task.env === undefined ? {} : { env: task.env }),
  ...(task.verifierEnv === undefined ? {} : { verifierEnv: task.verifierEnv }),
  ...(trustSystem ? { trustSystem } : {}),
});

const ours = (staged: string): string => `${TRIAL_CLAIM}/${stagedPath(staged)}/${PROGRAM}`;

const asUs = { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, ...RESTRICTED };

const prepareContainer = ({ staged, values }: RunFacts, { task, arm }: TrialFacts): object => ({
  name: 'prepare',
  image: values.baseImage,
  imagePullPolicy: 'IfNotPresent',
  command: ['node', ours(staged), 'prepare'],
  env: [specVariable({ staged, task: task.name, arm: arm.arm } satisfies PrepareSpec)],
  terminationMessagePolicy: 'FallbackToLogsOnError',
  resources: resources({ cpu: '500m', memory: '512Mi' }),
  securityContext: asUs,
  volumeMounts: [
    { name: 'claim', mountPath: TRIAL_CLAIM, readOnly: true },
    { name: 'runtime', mountPath: '/k8sbench/runtime' },
  ],
});

const AS_TRIAL = ['/k8sbench/runtime/bin/keeper', '/k8sbench/runtime/trials.mjs'];
const readRuntime = { name: 'runtime', mountPath: '/k8sbench/runtime', readOnly: true };

/**
 * The task's image without the agent: one that our programs do not run on ends the pod here, before a gate waits. The image is
 * pulled by then, too.
 */
const startsContainer = ({ task }: TrialFacts): object => ({
  name: 'starts',
  image: task.image,
  imagePullPolicy: 'IfNotPresent',
  command: [...AS_TRIAL, 'starts'],
  terminationMessagePolicy: 'FallbackToLogsOnError',
  resources: resources({ cpu: '100m', memory: '256Mi' }),
  securityContext: trialSecurity(task.user).context,
  volumeMounts: [readRuntime],
});

/** CPUs as a quantity: whole ones, or thousandths. */
const cpus = (amount: number): string => {
  const milli = Math.max(1, Math.round(amount * 1000));
  return milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
};

const UNITS: readonly [unit: string, bytes: number][] = [
  ['Gi', 2 ** 30],
  ['Mi', 2 ** 20],
  ['G', 1e9],
  ['Ki', 2 ** 10],
  ['M', 1e6],
  ['k', 1e3],
];

/** Bytes as the API writes them: in the largest unit that leaves no rest. */
const bytes = (amount: number): string => {
  const [unit, size] = UNITS.find((one) => amount % one[1] === 0) ?? ['', 1];
  return `${amount / size}${unit}`;
};

const DISK = 'ephemeral-storage';

const amounts = (task: LockedTask, values: TaskValues): Record<string, string> => ({
  cpu: task.cpus === undefined ? String(values.cpus) : cpus(task.cpus),
  memory: task.memory_bytes === undefined ? values.memory : bytes(task.memory_bytes),
  [DISK]: task.storage_bytes === undefined ? values.scratchSize : bytes(task.storage_bytes),
});

/** What a pod is sure to have of its node's disk; what it may use is more, and few trials do. */
const REQUESTED = 2 ** 30;

/** Requests and limits of one container; disks are shared, as few trials fill theirs. */
const shares = (limits: Record<string, string>): object => {
  const most = (parseQuantity(limits[DISK]!) ?? 0n) / 1_000_000_000n;
  return {
    requests: { ...limits, [DISK]: most < BigInt(REQUESTED) ? limits[DISK]! : bytes(REQUESTED) },
    limits,
  };
};

const trialContainer = (run: RunFacts, trial: TrialFacts): object => ({
  name: 'trial',
  image: trial.task.image,
  imagePullPolicy: 'IfNotPresent',
  command: [...AS_TRIAL, 'trial'],
  workingDir: trial.task.workdir,
  env: [specVariable(trialSpec(run, trial))],
  resources: shares(amounts(trial.task, run.values)),
  securityContext: trialSecurity(trial.task.user).context,
  volumeMounts: [
    readRuntime,
    { name: 'home', mountPath: '/k8sbench/home' },
    { name: 'ask', mountPath: '/k8sbench/ask' },
    { name: 'answer', mountPath: '/k8sbench/answer', readOnly: true },
    // Places that a user who is not root could not make.
    { name: 'tests', mountPath: '/tests' },
    { name: 'logs', mountPath: '/logs/verifier' },
  ],
});

const gateContainer = (run: RunFacts, trial: TrialFacts): object => ({
  name: 'gate',
  image: run.values.baseImage,
  imagePullPolicy: 'IfNotPresent',
  command: ['node', ours(run.staged), 'gate'],
  env: [specVariable(gateSpec(run, trial))],
  resources: shares({ cpu: '200m', memory: '256Mi', [DISK]: '6Gi' }),
  securityContext: asUs,
  volumeMounts: [
    { name: 'claim', mountPath: TRIAL_CLAIM, readOnly: true },
    { name: 'ask', mountPath: '/k8sbench/ask' },
    { name: 'answer', mountPath: '/k8sbench/answer' },
  ],
});

const podSpec = (run: RunFacts, trial: TrialFacts): object => ({
  restartPolicy: 'Never',
  activeDeadlineSeconds: limitSeconds(trial.task),
  terminationGracePeriodSeconds: 10,
  ...podBasics(run.values, run.values, { arches: trial.task.platforms }),
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
  initContainers: [prepareContainer(run, trial), startsContainer(trial)],
  containers: [trialContainer(run, trial), gateContainer(run, trial)],
  volumes: [
    readClaim('claim', run.values.gpu.trialPVC!),
    { name: 'runtime', emptyDir: { sizeLimit: '4Gi' } },
    { name: 'home', emptyDir: { sizeLimit: '2Gi' } },
    // In memory: who fills it gets an error, instead of the pod an eviction.
    { name: 'ask', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    { name: 'answer', emptyDir: { sizeLimit: '2Gi' } },
    { name: 'tests', emptyDir: { sizeLimit: '2Gi' } },
    { name: 'logs', emptyDir: { sizeLimit: '1Gi' } },
  ],
});

/** A trial's Job. */
export const trialJob = (run: RunFacts, trial: TrialFacts): object => {
  const { values } = run;
  const labels = {
    ...labelsOf('trial', trial.job),
    [RUN]: run.run,
    [MODEL]: run.model.id,
    'k8sbench/task': trial.task.name,
    'k8sbench/arm': trial.arm.arm,
    'k8sbench/attempt': String(trial.attempt),
  };
  return jobOf(
    values,
    { name: trial.job, labels },
    { ...ONE_POD, ttlSecondsAfterFinished: values.ttlSecondsAfterFinished },
    podSpec(run, trial),
  );
};
