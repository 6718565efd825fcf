/** Jobs that nobody takes: by a fake, as no server is away in just these ways, and its pauses are not worth waiting for. */
import { expect, test } from 'bun:test';
import { ApiError, type Cluster, ConnectionError } from '../../../shared/kubernetes.ts';
import { realWorld } from '../../../shared/world.ts';
import type { JobFile } from '../job-file.ts';
import { type Submission, submit } from './submit.ts';

const SOON = { tries: 3, pause_ms: 0 };
const refused = new ConnectionError("can't reach it: connection refused", { final: false, sent: false });
const silent = new ConnectionError('no answer from it', { final: false, sent: true });
const made = { metadata: { name: 'r', uid: 'u', annotations: { 'k8sbench/submission': 'word' } } };

/** A submission to a cluster that answers each request to create with the next of these, and lookers with `there`. */
const asked = (answers: readonly (Error | object)[], there?: object) => {
  const left = [...answers];
  const told: string[] = [];
  const stopping = new AbortController();
  let looks = 0;
  const cluster = {
    create: async () => {
      const answer = left.shift() ?? made;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    get: async () => {
      looks++;
      if (there) return there;
      throw new ApiError('not found', { code: 404, reason: 'NotFound', detail: '' });
    },
  } as unknown as Cluster;
  const talk = Object.fromEntries(
    ['info', 'warn', 'error'].map((one) => [one, (text: string) => void told.push(text)]),
  ) as unknown as Submission['talk'];
  const submission: Submission = {
    cluster,
    talk,
    namespace: 'team',
    name: 'r',
    manifest: { metadata: { name: 'r' }, spec: { template: {} } },
    job: { job: { submission: 'word' }, set: () => undefined } as unknown as JobFile,
    world: { ...realWorld(), interrupted: stopping.signal },
  };
  return { submission, told, stop: () => stopping.abort('SIGINT'), looks: () => looks };
};

test('a server that takes no connection: told once, nothing is looked for, and the last refusal is the reason', async () => {
  const { submission, told, looks } = asked(Array.from({ length: 9 }, () => refused));
  await expect(submit(submission, false, true, SOON)).rejects.toBe(refused);
  expect([told, looks()]).toEqual([[`${refused.message}; nothing was made so far, trying again`], 0]);
});

test('one that takes it again in time', async () =>
  expect(await submit(asked([refused, refused]).submission, false, true, SOON)).toBe('u'));

test('stopped meanwhile: nothing was made', async () => {
  const { submission, stop } = asked(Array.from({ length: 9 }, () => refused));
  stop();
  expect(await submit(submission, false, true, SOON)).toBeUndefined();
});

test('a request that may have arrived is looked for, also when nobody answers after it', async () => {
  const found = asked([refused, silent], made);
  expect(await submit(found.submission, false, true, SOON)).toBe('u');
  expect([found.told.at(-1), found.looks()]).toEqual([
    `${silent.message}; looking whether the Job was made`,
    1,
  ]);
  const lost = asked([silent, refused, refused, refused]);
  await expect(submit(lost.submission, false, true, SOON)).rejects.toBe(refused);
  expect(lost.looks()).toBe(3);
});
