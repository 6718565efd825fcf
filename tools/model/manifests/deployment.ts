/** The engine that serves one model. It starts when the model's files were checked, and is ready after a real completion. Pure. */
import { parseQuantity } from '../../../shared/quantity.ts';
import {
  labelsOf,
  MODEL_CLAIM,
  MODEL_PORT,
  modelName,
  PROGRAM,
  stagedPath,
  TRIAL_CLAIM,
} from '../../../shared/task-run/names.ts';
import {
  literal,
  metadata,
  podBasics,
  podMetadata,
  readClaim,
  resources,
  RESTRICTED,
  specVariable,
  USER,
  value,
} from '../../../shared/job/pod-parts.ts';
import type { ModelFacts } from '../facts.ts';

/** Where the engine sees the model's files. */
const filesOf = ({ model }: ModelFacts): string => `${MODEL_CLAIM}/${model.id}/files`;
/** On which port the pod says that it is ready. */
const READY_PORT = 8001;
/** For large weights to be loaded, s. */
const STARTUP_S = 3600;

const DEFAULTS = { cpus: 4, memory: '32Gi' };

const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{\{|\}\}|\{(\w+)\}/g, (all, name: string | undefined) =>
    name === undefined ? all[0]! : (values[name] ?? all),
  );

const engineCommand = (facts: ModelFacts): string[] => {
  const { model, engine, id } = facts.model;
  const values = { model: filesOf(facts), name: id, gpus: String(facts.values.gpu.count) };
  return [...engine.command, ...model.args].map((word) => literal(filled(word, values)));
};

/** Everything an engine writes goes below its home; no name is behind our user's number. */
const engineEnv = ({ model }: ModelFacts): object[] => [
  value('HF_HUB_OFFLINE', '1'),
  value('TRANSFORMERS_OFFLINE', '1'),
  value('HOME', '/tmp/home'),
  value('USER', 'k8sbench'),
  ...Object.entries(model.engine.env ?? {}).map(([name, text]) => value(name, text)),
];

const contextOf = ({ model }: ModelFacts): object => {
  const user = model.engine.user ?? USER;
  return user === 0
    ? { runAsUser: 0, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
    : { runAsNonRoot: true, runAsUser: user, runAsGroup: user, ...RESTRICTED };
};

const engineContainer = (facts: ModelFacts): object => {
  const { engine } = facts.model;
  const { gpu } = facts.values;
  const amounts = {
    cpu: String(gpu.serverCpus ?? DEFAULTS.cpus),
    memory: gpu.serverMemory ?? DEFAULTS.memory,
    [gpu.resource]: String(gpu.count),
  };
  return {
    name: 'engine',
    image: engine.image,
    imagePullPolicy: 'IfNotPresent',
    command: engineCommand(facts),
    env: engineEnv(facts),
    ports: [{ name: 'api', containerPort: MODEL_PORT }],
    startupProbe: {
      httpGet: { path: engine.health, port: MODEL_PORT },
      periodSeconds: 5,
      timeoutSeconds: 5,
      failureThreshold: STARTUP_S / 5,
    },
    resources: resources(amounts),
    securityContext: contextOf(facts),
    volumeMounts: [
      { name: 'models', mountPath: MODEL_CLAIM, readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
      ...(engine.shm_bytes === undefined ? [] : [{ name: 'shm', mountPath: '/dev/shm' }]),
    ],
  };
};

const ours = (facts: ModelFacts, verb: string, spec: object, more: object): object => ({
  name: verb,
  image: facts.values.baseImage,
  imagePullPolicy: 'IfNotPresent',
  command: ['node', `${TRIAL_CLAIM}/${stagedPath(facts.staged)}/${PROGRAM}`, verb],
  env: [specVariable(spec)],
  ...more,
  resources: resources({ cpu: '100m', memory: '256Mi' }),
  securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, ...RESTRICTED },
});

const awaitContainer = (facts: ModelFacts): object => {
  const { model, allowOpenNetwork } = facts;
  return ours(
    facts,
    'await-model',
    { id: model.id, pin: model.pin, ...(allowOpenNetwork ? { allowOpenNetwork } : {}) },
    {
      terminationMessagePolicy: 'FallbackToLogsOnError',
      volumeMounts: [
        { name: 'claim', mountPath: TRIAL_CLAIM, readOnly: true },
        { name: 'models', mountPath: MODEL_CLAIM, readOnly: true },
      ],
    },
  );
};

/** The engine alone would be ready before it can answer. */
const readyContainer = (facts: ModelFacts): object =>
  ours(
    facts,
    'ready',
    {
      url: `http://127.0.0.1:${MODEL_PORT}`,
      name: facts.model.id,
      health: facts.model.engine.health,
      port: READY_PORT,
    },
    {
      readinessProbe: { httpGet: { path: '/', port: READY_PORT }, periodSeconds: 2, failureThreshold: 1 },
      volumeMounts: [{ name: 'claim', mountPath: TRIAL_CLAIM, readOnly: true }],
    },
  );

/** What keeps it from being one; the memory must hold /dev/shm too. */
export const deploymentProblems = ({ model, values }: ModelFacts): string[] => {
  const memory = values.gpu.serverMemory ?? DEFAULTS.memory;
  const room = (parseQuantity(memory) ?? 0n) / 1_000_000_000n;
  const { shm_bytes = 0 } = model.engine;
  return BigInt(shm_bytes) >= room
    ? [
        `gpu.serverMemory: '${memory}' has no room beside the ${shm_bytes} bytes of the engine's /dev/shm; make it larger`,
      ]
    : [];
};

export const deployment = (facts: ModelFacts): object => {
  const { model, values } = facts;
  const name = modelName(model.id);
  const labels = labelsOf('model', name);
  const { gpu } = values;
  const { shm_bytes } = model.engine;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(values, name, labels),
    spec: {
      replicas: 1,
      // Two engines would need twice the GPUs.
      strategy: { type: 'Recreate' },
      progressDeadlineSeconds: STARTUP_S,
      selector: { matchLabels: labels },
      template: {
        metadata: podMetadata(values, labels),
        spec: {
          ...podBasics(values, gpu),
          securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
          initContainers: [awaitContainer(facts)],
          containers: [engineContainer(facts), readyContainer(facts)],
          volumes: [
            readClaim('claim', gpu.trialPVC!),
            readClaim('models', gpu.modelPVC!),
            { name: 'tmp', emptyDir: {} },
            ...(shm_bytes === undefined
              ? []
              : [{ name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: String(shm_bytes) } }]),
          ],
        },
      },
    },
  };
};
