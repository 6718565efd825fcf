/** The Job of one session as an object. Spec §4. Pure: the same plan, values and node give the same manifest. */
import type { Run } from '../../schemas/run.ts';
import type { Values } from '../../schemas/values.ts';
import { usage } from '../failure.ts';
import { parseQuantity } from '../quantity.ts';
import { jobOf, ONE_POD, podBasics, resources, RESTRICTED, restrictedPod, value } from './pod-parts.ts';
import { ACKNOWLEDGED, BUNDLE, CLAIM, claimSpool, commandOf, ROOTS, SPOOL } from './start-up.ts';

export interface Session {
  about: Pick<Run, 'run' | 'mode' | 'delivery' | 'arch' | 'bundleSha256' | 'parent'>;
  /** The compact plan's exact JSON text. */
  plan: string;
  values: Values;
  /** The only node that may run it; undefined: the scheduler chooses. */
  node?: string;
}

/** Everything that carries this name is k8sbench's: sessions keep away from each other by it. */
const NAME = { 'app.kubernetes.io/name': 'k8sbench' } as const;

/** Labels by which a session is found; nobody else may set them. */
const identityOf = ({ run, mode, parent }: Session['about']): Record<string, string> => ({
  ...NAME,
  'app.kubernetes.io/managed-by': 'k8sbench',
  'app.kubernetes.io/component': mode,
  'app.kubernetes.io/instance': run,
  ...(parent === undefined ? {} : { 'app.kubernetes.io/part-of': parent }),
});

/** The pod's annotation that says when its Job was submitted; `run-session` fills it in. */
export const SUBMITTED_AT = 'k8sbench/submitted-at';
/** A Linux environment variable holds 128 KiB; the plan stays well below. */
const LARGEST_PLAN = 100 << 10;

const problemsOf = ({ about, plan, values }: Session): string[] => {
  const problems: string[] = [];
  const { namespace, memory, scratchSize, scratchMedium, scratchStorageClass } = values;
  if (namespace === undefined) problems.push('no namespace: set it with --namespace or in the values file');
  if (about.delivery === 'local') problems.push('a local session has no Job: it runs on this machine');
  if (about.delivery === 'image' && values.image === undefined)
    problems.push('no image: set it with --image');
  if (about.delivery === 'bundle') {
    if (values.baseImage === undefined) problems.push('no base image: set it with --base-image');
    if (about.bundleSha256 === undefined || about.arch === undefined)
      problems.push(
        "the plan does not say what the bundle is (digest, architecture); plan again with '--bundle DIR'",
      );
  }
  if (Buffer.byteLength(plan) >= LARGEST_PLAN)
    problems.push(
      `the plan is ${Buffer.byteLength(plan)} bytes long, and at most ${LARGEST_PLAN} reach the pod; use fewer targets or sizes`,
    );
  const [room, scratch] = [parseQuantity(memory) ?? 0n, parseQuantity(scratchSize) ?? 0n];
  if (scratchMedium === 'Memory' && scratch >= room)
    problems.push(
      `scratchSize: '${scratchSize}' in memory leaves nothing of the pod's '${memory}'; make it smaller`,
    );
  if (scratchMedium && scratchStorageClass)
    problems.push('scratchMedium and scratchStorageClass exclude each other');
  for (const key of Object.keys(identityOf(about)))
    if (values.labels?.[key] !== undefined) problems.push(`labels: '${key}' is k8sbench's own`);
  return problems;
};

/** Other sessions, on every node. */
const AWAY = {
  requiredDuringSchedulingIgnoredDuringExecution: [
    // The API wants a label here; nodes that share its value or lack it are only kept apart too much or too little.
    { labelSelector: { matchLabels: NAME }, namespaceSelector: {}, topologyKey: 'kubernetes.io/hostname' },
  ],
};

const field = (name: string, fieldPath: string): object => ({
  name,
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
});

const environmentOf = ({ about, plan, values }: Session, image: string): object[] => {
  const delivery = about.delivery as 'image' | 'bundle';
  return [
    field('NODE_NAME', 'spec.nodeName'),
    field('POD_NAME', 'metadata.name'),
    // Empty when somebody else submits the manifest.
    field('K8SBENCH_SUBMITTED_AT', `metadata.annotations['${SUBMITTED_AT}']`),
    value('K8SBENCH_DELIVERY', delivery),
    value('K8SBENCH_IMAGE_REF', image),
    ...(delivery === 'bundle'
      ? [value('K8SBENCH_BUNDLE_SHA256', about.bundleSha256!), value('K8SBENCH_BUNDLE_ARCH', about.arch!)]
      : []),
    // On a claim the copy of the log outlives the pod, which need not wait for whoever reads it.
    ...(values.pvc !== undefined
      ? [value('K8SBENCH_SPOOL', claimSpool(about.run))]
      : delivery === 'bundle'
        ? [value('K8SBENCH_SPOOL', SPOOL), value('K8SBENCH_ACKNOWLEDGED', ACKNOWLEDGED)]
        : []),
    value('K8SBENCH_ROOT', ROOTS[delivery]),
    value('K8SBENCH_DATA', '/data/fixtures'),
    value('TMPDIR', '/data'),
    value('HOME', '/data'),
    value('K8SBENCH_PLAN', plan),
  ];
};

const scratchOf = ({ scratchSize, scratchMedium, scratchStorageClass }: Values): object =>
  scratchStorageClass === undefined
    ? { emptyDir: { ...(scratchMedium ? { medium: scratchMedium } : {}), sizeLimit: scratchSize } }
    : {
        ephemeral: {
          volumeClaimTemplate: {
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: scratchStorageClass,
              resources: { requests: { storage: scratchSize } },
            },
          },
        },
      };

const podSpecOf = (session: Session): object => {
  const { about, values, node } = session;
  const bundle = about.delivery === 'bundle';
  const image = (bundle ? values.baseImage : values.image)!;
  const claim = values.pvc;
  return {
    restartPolicy: 'Never',
    ...podBasics(values, values, {
      arches: about.arch === undefined ? [] : [about.arch],
      ...(node === undefined ? {} : { node }),
      awayFrom: AWAY,
    }),
    securityContext: restrictedPod(),
    containers: [
      {
        name: 'bench',
        image,
        imagePullPolicy: 'IfNotPresent',
        command: commandOf(bundle ? 'bundle' : 'image'),
        workingDir: '/data',
        env: environmentOf(session, image),
        resources: resources({ cpu: String(values.cpus), memory: values.memory }),
        securityContext: RESTRICTED,
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          ...(bundle ? [{ name: 'bundle', mountPath: BUNDLE }] : []),
          ...(claim ? [{ name: CLAIM, mountPath: `/${CLAIM}` }] : []),
        ],
      },
    ],
    volumes: [
      { name: 'data', ...scratchOf(values) },
      ...(bundle ? [{ name: 'bundle', emptyDir: {} }] : []),
      ...(claim ? [{ name: CLAIM, persistentVolumeClaim: { claimName: claim } }] : []),
    ],
  };
};

/** The Job; throws a Failure with everything that keeps it from being one. */
export const manifestOf = (session: Session): Record<string, unknown> => {
  const problems = problemsOf(session);
  if (problems.length > 0) throw usage(problems);
  const { about, values } = session;
  return jobOf(
    values,
    { name: about.run, labels: identityOf(about) },
    {
      ...ONE_POD,
      activeDeadlineSeconds: values.deadlineSeconds,
      ttlSecondsAfterFinished: values.ttlSecondsAfterFinished,
    },
    podSpecOf(session),
  );
};
