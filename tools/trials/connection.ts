/** The cluster that a run's trials are in: its namespace is trials.json's, how to reach it is told by flags and environment. */
import { type Cluster, connect, type ConnectValues } from '../../shared/kubernetes.ts';
import type { World } from '../../shared/world.ts';

export interface ConnectionFlags {
  kubeconfig: string | undefined;
  context: string | undefined;
}

export const clusterOf = ({ kubeconfig, context }: ConnectionFlags, world: World): Cluster => {
  const named = context ?? world.env['K8SBENCH_CONTEXT'];
  const values: ConnectValues = {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(named ? { kubeContext: named } : {}),
  };
  return connect(values, world);
};
