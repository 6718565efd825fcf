/** The copy of a log on a claim, read through Jobs of a cluster that is a few functions. */
import { expect, test } from 'bun:test';
import type { Cluster } from '../../../shared/kubernetes.ts';
import type { Task } from '../task.ts';
import { readClaimCopy } from './claim-copy.ts';
import type { Pod } from './objects.ts';

const silent = { info: () => undefined, warn: () => undefined };
const task = {
  talk: silent,
  run: { name: 'r' },
  job: { job: { job: { namespace: 'bench', name: 'r', uid: '01234567-89ab' } } },
} as unknown as Task;
const pod = {
  metadata: { name: 'r-x', uid: 'x' },
  spec: { containers: [{ name: 'bench', image: 'i' }], volumes: [{ name: 'results' }, { name: 'data' }] },
  status: {},
} as unknown as Pod;

const clusterWith = (file: string, phase: string): { cluster: Cluster; made: any[]; deleted: string[] } => {
  const made: any[] = [];
  const deleted: string[] = [];
  const cluster = {
    create: async (_: string, __: object, body: any) => (
      made.push(body),
      { ...body, metadata: { ...body.metadata, uid: `uid-${made.length}` } }
    ),
    list: async () => [{ metadata: { name: 'reader' }, status: { phase, message: 'no such file' } }],
    async *log() {
      const [from, to] = made.at(-1).spec.template.spec.containers[0].command.slice(-2).map(Number);
      yield new TextEncoder().encode(file).subarray(from, to + 1);
    },
    delete: async (_: string, { name }: { name: string }, uid: string) => deleted.push(`${name} ${uid}`) > 0,
  };
  return { cluster: cluster as unknown as Cluster, made, deleted };
};

test('is read from where the lines end that were taken, by a Job that goes again', async () => {
  const { cluster, made, deleted } = clusterWith('one\ntwo\nthree\n', 'Succeeded');
  let text = '';
  const about = { task, cluster, namespace: 'bench' };
  await readClaimCopy(
    about,
    pod,
    () => 4 + text.length,
    (block) => (text += new TextDecoder().decode(block)),
    new AbortController().signal,
  );
  expect(text).toBe('two\nthree\n');
  const [job] = made;
  expect(job.spec.template.spec.containers[0].command.slice(-3)).toEqual([
    '/results/r.log',
    '4',
    String(4 + (8 << 20) - 1),
  ]);
  expect(job.spec.template.spec.volumes).toEqual([{ name: 'results' }]);
  expect(job.metadata.ownerReferences).toMatchObject([{ kind: 'Job', name: 'r', uid: '01234567-89ab' }]);
  expect(deleted).toEqual([`${job.metadata.name} uid-1`]);
});

test('that can not be read says why, and where it stays', async () => {
  const { cluster } = clusterWith('', 'Failed');
  const reading = readClaimCopy(
    { task, cluster, namespace: 'bench' },
    pod,
    () => 0,
    () => undefined,
    new AbortController().signal,
  );
  expect(reading).rejects.toThrow(
    /^the Job 'k8sbench-copy-01234567-0-\w+' that reads the log failed: no such file; the claim keeps it as 'r\.log'$/,
  );
});
