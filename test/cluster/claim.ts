/** Volumes for results: a directory of this machine as a claim of a namespace. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { apply } from './fault.ts';
import { until } from './processes.ts';
import { admin, ownDirectory } from './the-cluster.ts';

/** A claim that is bound; the function that is given removes its volume. */
export const makeClaim = async (namespace: string, name: string): Promise<() => void> => {
  const path = join(ownDirectory!, 'volumes', namespace);
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
  const volume = `${namespace}-${name}`;
  const common = {
    accessModes: ['ReadWriteMany'],
    storageClassName: '',
  };
  const remove = apply({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume },
    spec: {
      ...common,
      capacity: { storage: '1Gi' },
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path },
    },
  });
  const claim = {
    metadata: { name },
    spec: { ...common, volumeName: volume, resources: { requests: { storage: '1Gi' } } },
  };
  await admin.create('persistentvolumeclaims', { namespace }, claim);
  await until(`claim ${name}`, async () => {
    const made = await admin.get<any>('persistentvolumeclaims', { namespace, name });
    return made.status?.phase === 'Bound';
  });
  return remove;
};
