/** Parts that all our pods share: a session's, and those of a task-completion run. Pure. */
import type { Values } from '../../schemas/values.ts';
import { POD_ANNOTATIONS, POD_LABELS } from './keep-away.ts';

/** The user of everything that is ours. */
export const USER = 65532;

/** The pod's part of the restricted Pod Security level; `fsGroup` where something of ours writes to a claim. */
export const restrictedPod = (user = USER): object => ({
  runAsNonRoot: true,
  runAsUser: user,
  runAsGroup: user,
  fsGroup: user,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
});

/** A container's part of it. */
export const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
} as const;

/** Requests and limits alike: such a pod is the last to be evicted. */
export const resources = (amounts: Record<string, string>): object => ({
  requests: amounts,
  limits: amounts,
});

/** A text that the kubelet leaves as it is: `$(NAME)` would be replaced, `$$` stands for one. */
export const literal = (text: string): string => text.replaceAll('$', '$$$$');

/** A variable. */
export const value = (name: string, text: string): { name: string; value: string } => ({
  name,
  value: literal(text),
});

/** What a program of ours has to know, as lines of JSON. */
export const specVariable = (spec: object): object => value('K8SBENCH_SPEC', JSON.stringify(spec, null, 2));

/** Which nodes may run a pod, by what Kubernetes itself says of them. */
export interface Placement {
  /** Empty: any architecture. */
  arches?: readonly string[];
  /** The only node; absent: the scheduler chooses. */
  node?: string;
  /** Pods it keeps away from, as `podAntiAffinity`. */
  awayFrom?: object;
}

const affinityOf = ({ arches = [], node, awayFrom }: Placement): object => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
            ...(arches.length === 0
              ? []
              : [{ key: 'kubernetes.io/arch', operator: 'In', values: [...arches] }]),
          ],
          // By name and not by a label, which may be another's; the scheduler still checks taints and room.
          ...(node === undefined
            ? {}
            : { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }),
        },
      ],
    },
  },
  ...(awayFrom === undefined ? {} : { podAntiAffinity: awayFrom }),
});

/**
 * What all of them have alike: no token, no variables of services, no neighbours' settings. The node's selector and
 * tolerations stand apart from the values: a model's pod has others.
 */
export const podBasics = (
  values: Values,
  { nodeSelector, tolerations }: Pick<Values, 'nodeSelector' | 'tolerations'>,
  placement: Placement = {},
): object => ({
  enableServiceLinks: false,
  automountServiceAccountToken: false,
  ...(values.serviceAccountName ? { serviceAccountName: values.serviceAccountName } : {}),
  ...(values.priorityClassName ? { priorityClassName: values.priorityClassName } : {}),
  ...(values.runtimeClassName ? { runtimeClassName: values.runtimeClassName } : {}),
  ...(values.imagePullSecrets
    ? {
        imagePullSecrets: values.imagePullSecrets.map((one) =>
          typeof one === 'string' ? { name: one } : one,
        ),
      }
    : {}),
  ...(nodeSelector ? { nodeSelector } : {}),
  ...(tolerations ? { tolerations } : {}),
  affinity: affinityOf(placement),
});

/** A pod template's metadata. */
export const podMetadata = (values: Values, labels: Record<string, string>): object => ({
  labels: { ...POD_LABELS, ...values.labels, ...labels },
  annotations: { ...POD_ANNOTATIONS, ...values.annotations },
});

/** An object's metadata. */
export const metadata = (values: Values, name: string, labels: Record<string, string>): object => ({
  name,
  namespace: values.namespace,
  labels: { ...values.labels, ...labels },
  ...(values.annotations ? { annotations: values.annotations } : {}),
});

/** A Job with one pod: `spec` is its own part, `pod` the pod's. Its labels are the pod's too. */
export const jobOf = (
  values: Values,
  { name, labels }: { name: string; labels: Record<string, string> },
  spec: object,
  pod: object,
): Record<string, unknown> => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: metadata(values, name, labels),
  spec: { ...spec, template: { metadata: podMetadata(values, labels), spec: pod } },
});

/** One pod and no other, whatever becomes of it. */
export const ONE_POD = {
  backoffLimit: 0,
  completions: 1,
  parallelism: 1,
  podReplacementPolicy: 'Failed',
} as const;

/** A claim that is only read. */
export const readClaim = (name: string, claimName: string): object => ({
  name,
  persistentVolumeClaim: { claimName, readOnly: true },
});
