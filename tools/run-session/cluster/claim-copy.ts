/**
 * The session's own copy of its log on the results claim (delivery `image`): once the pod has ended only another pod can read
 * it. Small Jobs of the same image print it piece by piece, below the size at which a node rotates. They belong to the
 * session's Job: whatever becomes of the runner, they go with it.
 */
import { type Cluster, isStatus } from '../../../shared/kubernetes.ts';
import { failed } from '../../../shared/failure.ts';
import { CLAIM, claimSpool } from '../../../shared/job/start-up.ts';
import { blocksOf } from '../../../shared/line-blocks.ts';
import type { Task } from '../task.ts';
import { BENCH, type Container, type JobObject, type Pod, stateOf } from './objects.ts';
import { patiently } from './patience.ts';

/** Bytes that one Job prints; a node keeps 10 MiB of a container's log unless it was told otherwise. */
const PIECE = 8 << 20;
/** A line longer than a piece is read in a larger one, up to this. */
const LARGEST_PIECE = 64 << 20;
const PATIENCE_MS = 120_000;
const LOOK_EVERY_MS = 500;

/** What runs there; the image has Node, and perhaps no shell. */
const PRINT = `require('fs').createReadStream(process.argv[1], { start: +process.argv[2], end: +process.argv[3] }).pipe(process.stdout)`;

export interface ClaimCopy {
  task: Task;
  cluster: Cluster;
  namespace: string;
}

/** A Job that prints the bytes from `from` to `to` in the place where the session's pod ran. */
const readerOf = (name: string, { task, namespace }: ClaimCopy, pod: Pod, from: number, to: number) => {
  const { job } = task.job.job;
  const { spec } = pod;
  const bench = spec.containers.find((one) => one.name === BENCH) as Container;
  const kept = [
    'securityContext',
    'imagePullSecrets',
    'tolerations',
    'runtimeClassName',
    'priorityClassName',
  ];
  const affinity = spec['affinity'] as { nodeAffinity?: object } | undefined;
  const size = { cpu: '250m', memory: '256Mi' };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job!.name, uid: job!.uid }],
    },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: (2 * PATIENCE_MS) / 1000,
      ttlSecondsAfterFinished: 600,
      template: {
        // Not the label by which sessions keep away from each other.
        metadata: { labels: { 'app.kubernetes.io/name': 'k8sbench-copy' } },
        spec: {
          restartPolicy: 'Never',
          enableServiceLinks: false,
          automountServiceAccountToken: false,
          ...Object.fromEntries(kept.flatMap((key) => (spec[key] === undefined ? [] : [[key, spec[key]]]))),
          ...(affinity?.nodeAffinity ? { affinity: { nodeAffinity: affinity.nodeAffinity } } : {}),
          containers: [
            {
              name: 'copy',
              image: bench['image'],
              imagePullPolicy: 'IfNotPresent',
              command: ['node', '-e', PRINT, claimSpool(task.run.name), String(from), String(to)],
              resources: { requests: size, limits: size },
              securityContext: bench['securityContext'],
              volumeMounts: [{ name: CLAIM, mountPath: `/${CLAIM}`, readOnly: true }],
            },
          ],
          volumes: (spec['volumes'] as { name: string }[]).filter((one) => one.name === CLAIM),
        },
      },
    },
  };
};

/** The reader's pod, once it has ended. */
const endedPod = async ({ task, cluster, namespace }: ClaimCopy, name: string): Promise<Pod> => {
  const until = performance.now() + PATIENCE_MS;
  const labelSelector = `batch.kubernetes.io/job-name=${name}`;
  const kept = `; the claim keeps it as '${task.run.name}.log'`;
  for (;;) {
    const [pod] = await patiently(task.talk, () => cluster.list<Pod>('pods', { namespace, labelSelector }));
    const { phase, message } = pod?.status ?? {};
    if (pod && phase === 'Succeeded') return pod;
    const said = pod && (message ?? stateOf(pod, 'copy').waiting?.message);
    const why = said ? `: ${said}` : '';
    if (phase === 'Failed') throw failed(`the Job '${name}' that reads the log failed${why}${kept}`);
    if (performance.now() > until)
      throw failed(
        `the Job '${name}' that reads the log did not end within ${PATIENCE_MS / 1000} s${why}${kept}`,
      );
    await Bun.sleep(LOOK_EVERY_MS);
  }
};

/** Prints a piece; the number of bytes that came. */
const readPiece = async (
  about: ClaimCopy,
  pod: Pod,
  from: number,
  size: number,
  take: (block: Uint8Array) => void,
  signal: AbortSignal,
): Promise<number> => {
  const { task, cluster, namespace } = about;
  const { job } = task.job.job;
  const name = `k8sbench-copy-${job!.uid.slice(0, 8)}-${from.toString(36)}-${size.toString(36)}`;
  const reader = readerOf(name, about, pod, from, from + size - 1);
  // A runner that was killed may have made it.
  const made = await patiently(task.talk, () =>
    cluster.create<JobObject>('jobs', { namespace }, reader),
  ).catch((error: unknown) => {
    if (!isStatus(error, 409)) throw error;
    return undefined;
  });
  const ended = await endedPod(about, name);
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const part of cluster.log(
      { namespace, pod: ended.metadata.name, container: 'copy' },
      signal,
    )) {
      bytes += part.length;
      yield part;
    }
  };
  for await (const block of blocksOf(counted())) take(block);
  if (made) await cluster.delete('jobs', { namespace, name }, made.metadata.uid).catch(() => undefined);
  return bytes;
};

/** The copy's text from a byte on, until nothing more comes; `at` tells how many bytes were taken so far. */
export const readClaimCopy = async (
  about: ClaimCopy,
  pod: Pod,
  at: () => number,
  take: (block: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> => {
  for (let size = PIECE; !signal.aborted && size <= LARGEST_PIECE;) {
    const from = at();
    const bytes = await readPiece(about, pod, from, size, take, signal);
    if (bytes < size) return;
    if (at() === from) size *= 2;
  }
};
