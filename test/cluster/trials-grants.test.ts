/** The trials' grant verb by verb: with all of it everything works (the other tests), without any one of them something named does not. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { until } from './processes.ts';
import { type Right, rightsIn, without } from './session-runs.ts';
import { sideBySide } from './side-by-side.ts';
import { admin } from './the-cluster.ts';
import {
  type Ended,
  type Fate,
  GRANT,
  jobsOf,
  linesIn,
  makeTrialBed,
  start,
  type TrialBed,
  trialRun,
  trialsTool,
} from './trial-runs.ts';

// Machines may be busy.
setDefaultTimeout(240_000);

/** A verb may not go on, and says which right it lacks. */
const refused = ({ exit, stdout, stderr }: Ended, { verb, resource }: Right): void => {
  expect([exit, stdout]).toEqual([1, '']);
  // Server-side apply, which is no verb of its own, needs both 'create' and 'patch'.
  expect(stderr).toMatch(
    new RegExp(`not allowed to .* cannot ${verb} resource "${resource}".*the README's grants list`),
  );
};

const ONE: readonly Fate[] = [{ task: 'task' }];

/** Neither verb that contacts the cluster goes on. */
const both = async (bed: TrialBed, right: Right): Promise<void> => {
  const { run } = trialRun(bed, ONE);
  refused(await trialsTool(bed, 'apply', run), right);
  refused(await trialsTool(bed, 'collect', run), right);
  expect(await jobsOf(bed, run)).toEqual([]);
};

/** Nothing can be waited for. What is submitted at once needs no waiting. */
const waits = async (bed: TrialBed, right: Right): Promise<void> => {
  const { run } = trialRun(bed, [{ task: 'task', gate: 'sleep 60' }]);
  await trialsTool(bed, 'apply', run);
  refused(await trialsTool(bed, 'collect', run), right);
};

/** No Job is submitted; what is there can be collected. */
const submits = async (bed: TrialBed, right: Right): Promise<void> => {
  const { run } = trialRun(bed, ONE);
  refused(await trialsTool(bed, 'apply', run), right);
  expect(await jobsOf(bed, run)).toEqual([]);
  const collected = await trialsTool(bed, 'collect', run, '--no-wait');
  expect(collected.stderr).toContain('1 of 1 trials has no Job');
};

/** The namespace lets no pod in, for a reason that only events tell. */
const noPods = (bed: TrialBed): Promise<unknown> =>
  admin.create(
    'resourcequotas',
    { namespace: bed.namespace },
    { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } },
  );

const LOST: Readonly<Record<string, (bed: TrialBed, right: Right) => Promise<void>>> = {
  'list jobs': both,
  'watch jobs': waits,
  'list pods': both,
  'watch pods': waits,
  'get jobs': submits,
  'create jobs': submits,
  'patch jobs': submits,
  'delete jobs': async (bed, right) => {
    const { run } = trialRun(bed, [{ task: 'lost', gate: 'exit 1' }]);
    expect((await trialsTool(bed, 'apply', run)).exit).toBe(0);
    expect((await trialsTool(bed, 'collect', run)).exit).toBe(0);
    const [before] = await jobsOf(bed, run);
    // Only what is tried again needs it.
    refused(await trialsTool(bed, 'apply', run, '--again'), right);
    expect((await jobsOf(bed, run)).map((one) => one.metadata.uid)).toEqual([before.metadata.uid]);
  },
  'get pods/log': async (bed, right) => {
    const { run } = trialRun(bed, [{ task: 'in-its-log', gate: 'echo "$LINE"' }, ...ONE]);
    expect((await trialsTool(bed, 'apply', run)).exit).toBe(0);
    refused(await trialsTool(bed, 'collect', run), right);
    // What may not be read is not lost.
    expect(linesIn(run).filter((one) => one.reward === null)).toEqual([]);
  },
  'list events': async (bed) => {
    await noPods(bed);
    const { run } = trialRun(bed, ONE);
    const applying = start(bed, ['apply', '--run', run.name, '--at-once', '1']);
    expect((await applying.ended).exit).toBe(0);
    const collecting = start(bed, ['collect', '--run', run.name, '--settle', '2s']);
    await until('that it can not tell', () => collecting.said().includes("can't be told"));
    expect(collecting.said()).toContain('not allowed to list events');
    collecting.kill('SIGINT');
    expect((await collecting.ended).exit).toBe(130);
    expect(linesIn(run)).toEqual([]);
  },
  // Whether there is such a queue, or any: a Job for one that is not there waits for ever.
  'list localqueues': async (bed) => {
    const { run } = trialRun(bed, ONE);
    expect((await trialsTool(bed, 'apply', run, '--queue', 'nowhere')).exit).toBe(0);
    const [job] = await jobsOf(bed, run);
    expect([job.spec.suspend, job.metadata.labels['kueue.x-k8s.io/queue-name']]).toEqual([true, 'nowhere']);
  },
};

const nameOf = ({ verb, resource }: Right): string => `${verb} ${resource}`;

test('every verb of the grant is here', () =>
  expect(Object.keys(LOST).toSorted()).toEqual(rightsIn(GRANT).map(nameOf).toSorted()));

sideBySide(
  'without',
  Object.fromEntries(
    rightsIn(GRANT).map((right) => [
      nameOf(right),
      async () => {
        const bed = await makeTrialBed('trial-grant', without(GRANT, right));
        try {
          await LOST[nameOf(right)]!(bed, right);
        } finally {
          await bed.remove();
        }
      },
    ]),
  ),
  4,
);

test('with all of it a queue that is not there is refused, and a quota that has no room is told', async () => {
  const bed = await makeTrialBed('trial-grant');
  try {
    const { run } = trialRun(bed, ONE);
    const queued = await trialsTool(bed, 'apply', run, '--queue', 'nowhere');
    expect([queued.exit, queued.stderr.includes('the cluster has no Kueue')]).toEqual([2, true]);
    await noPods(bed);
    expect((await trialsTool(bed, 'apply', run)).exit).toBe(0);
    expect((await trialsTool(bed, 'collect', run, '--settle', '2s')).exit).toBe(0);
    expect(linesIn(run)[0]!.error).toStartWith("the namespace's quota never has room for its pod");
  } finally {
    await bed.remove();
  }
});
