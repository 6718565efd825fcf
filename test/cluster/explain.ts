/** Why a session does not come as far as a test waits for: what its pods say, what is told of them, and the scheduler's last words. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { admin, ownDirectory } from './the-cluster.ts';

const LINES = 10;

const lastLines = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').slice(-LINES) : [];

const aboutPod = async ({ metadata, spec, status }: any): Promise<string[]> => {
  const { namespace, name, uid } = metadata;
  const events = await admin.list<any>('events', { namespace, fieldSelector: `involvedObject.uid=${uid}` });
  const gone = metadata.deletionTimestamp ? `, deleted at ${metadata.deletionTimestamp}` : '';
  return [
    `pod ${name} on ${spec.nodeName ?? 'no node'}: ${status.phase}${gone}`,
    ...(status.conditions ?? [])
      .filter((one: any) => one.status !== 'True')
      .map((one: any) => `  ${one.type} since ${one.lastTransitionTime}: ${one.reason} ${one.message ?? ''}`),
    ...(status.containerStatuses ?? []).map((one: any) => `  ${one.name}: ${JSON.stringify(one.state)}`),
    ...events.map((one) => `  ${one.lastTimestamp ?? one.eventTime} ${one.reason}: ${one.message}`),
  ];
};

/** Of a run's pods, and of all others that wait for a node. */
export const explain = async (run: string): Promise<string> => {
  const pods = await admin.list<any>('pods', {});
  const told = pods.filter(
    ({ metadata, spec, status }) =>
      metadata.labels?.['app.kubernetes.io/instance'] === run ||
      (status.phase === 'Pending' && spec.nodeName === undefined),
  );
  const log = ownDirectory === undefined ? [] : lastLines(join(ownDirectory, 'log', 'kube-scheduler.log'));
  return [
    told.length === 0 ? `no pod of ${run}, none that waits` : (await Promise.all(told.map(aboutPod))).flat(),
    log.length > 0 ? ['the scheduler:', ...log] : [],
  ]
    .flat()
    .join('\n');
};
