/** A pod that waits to be copied into, with the room and the rights that a session's pod has. */
import type { KubernetesObject } from '../../../shared/kubernetes.ts';
import { until } from '../../cluster/processes.ts';
import type { ClusterBed } from './cluster-bed.ts';

const LIMITS = { cpu: '2', memory: '1Gi' };

let pods = 0;

export const runSleeper = async (bed: ClusterBed): Promise<{ name: string; remove: () => Promise<void> }> => {
  const name = `sleeper-${++pods}`;
  const at = { namespace: bed.namespace, name };
  const { metadata } = await bed.cluster.create<KubernetesObject>(
    'pods',
    { namespace: bed.namespace },
    {
      metadata: { name },
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        // By the scheduler, who waits until the node has room again.
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] },
              ],
            },
          },
        },
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65_532,
          runAsGroup: 65_532,
          fsGroup: 65_532,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        volumes: [{ name: 'data', emptyDir: {} }],
        containers: [
          {
            name: 'main',
            image: bed.images.base,
            command: ['sleep', '3600'],
            resources: { requests: LIMITS, limits: LIMITS },
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
      },
    },
  );
  const phase = async (): Promise<string | undefined> =>
    (await bed.cluster.get<KubernetesObject & { status: { phase?: string } }>('pods', at)).status.phase;
  await until(`pod ${name}`, async () => (await phase()) === 'Running');
  return {
    name,
    remove: async () => {
      await bed.cluster.delete('pods', at, metadata.uid);
      await until(`the end of ${name}`, () =>
        phase().then(
          () => false,
          () => true,
        ),
      );
    },
  };
};
