/** What the API tells of a trial that has no line, and what a gate leaves: described pods, no cluster. */
import { describe, expect, test } from 'bun:test';
import type { TrialLine } from '../../../schemas/trial-line.ts';
import type { Trial } from '../../../schemas/trials.ts';
import type { Condition } from '../../../shared/job/pod-causes.ts';
import { causeOf, type Situation } from './causes.ts';
import { Settling } from './collecting.ts';
import type { ContainerStatus, TrialEvent, TrialJob, TrialPod } from './objects.ts';
import { engineMoments, voided } from './outages.ts';
import { keptLine, lineIn, lostLine } from './result.ts';

const NOW = Date.parse('2026-01-02T03:04:05.000Z');
const meta = (name: string) => ({ name, uid: `uid-${name}`, resourceVersion: '1' });

const running: ContainerStatus['state'] = { running: {} };
const ended = (exitCode: number, reason = 'Error', message?: string): ContainerStatus['state'] => ({
  terminated: { exitCode, reason, ...(message === undefined ? {} : { message }) },
});

interface Described {
  phase?: string;
  gate?: ContainerStatus['state'];
  trial?: ContainerStatus['state'];
  init?: ContainerStatus['state'];
  starts?: ContainerStatus['state'];
  reason?: string;
  message?: string;
  conditions?: Condition[];
  deletionTimestamp?: string;
}

const podOf = (one: Described = {}): TrialPod => ({
  metadata: {
    ...meta('pod'),
    ...(one.deletionTimestamp === undefined ? {} : { deletionTimestamp: one.deletionTimestamp }),
  },
  spec: { nodeName: 'node-a' },
  status: {
    phase: one.phase ?? 'Running',
    ...(one.reason === undefined ? {} : { reason: one.reason }),
    ...(one.message === undefined ? {} : { message: one.message }),
    conditions: one.conditions ?? [],
    containerStatuses: [
      { name: 'trial', ...(one.trial ? { state: one.trial } : {}) },
      { name: 'gate', ...(one.gate ? { state: one.gate } : {}) },
    ],
    initContainerStatuses: [
      ...(one.init ? [{ name: 'prepare', state: one.init }] : []),
      ...(one.starts ? [{ name: 'starts', state: one.starts }] : []),
    ],
  },
});

const jobOf = (...conditions: Condition[]): TrialJob => ({ metadata: meta('job'), status: { conditions } });
const event = (reason: string, message: string): TrialEvent => ({ metadata: meta('event'), reason, message });
const yes = (type: string, reason = '', message = ''): Condition => ({
  type,
  status: 'True',
  reason,
  message,
});
const no = (type: string, reason = '', message = ''): Condition => ({
  type,
  status: 'False',
  reason,
  message,
});

const situation = (pod: TrialPod | undefined, more: Partial<Situation> = {}): Situation => ({
  job: jobOf(),
  jobGone: false,
  pod,
  podGone: false,
  events: [],
  now: NOW,
  ...more,
});

const both = { gate: running, trial: running };

describe('why there is no line', () => {
  test.each<[string, Situation, string, string, string]>([
    [
      'gate killed',
      situation(podOf({ ...both, gate: ended(137) })),
      'ended',
      'infrastructure',
      'its gate was killed',
    ],
    [
      'gate out of memory',
      situation(podOf({ gate: ended(137, 'OOMKilled') })),
      'ended',
      'infrastructure',
      'its gate was killed: out of memory',
    ],
    [
      'gate without a word',
      situation(podOf({ gate: ended(0, 'Completed') })),
      'ended',
      'infrastructure',
      'its gate ended without a result line (exit 0)',
    ],
    [
      'evicted for its own disk',
      situation(podOf({ reason: 'Evicted', message: 'Usage of EmptyDir volume "work" exceeds the limit' })),
      'ended',
      'agent',
      'the agent filled its disk',
    ],
    [
      "evicted for the node's disk",
      situation(podOf({ reason: 'Evicted', message: 'The node was low on resource: ephemeral-storage' })),
      'ended',
      'infrastructure',
      'its pod was evicted: The node was low',
    ],
    [
      'deadline of a pod that ran',
      situation(podOf({ phase: 'Failed', reason: 'DeadlineExceeded', trial: running })),
      'ended',
      'agent',
      'ran into its time limit',
    ],
    [
      'deadline of a pod that waited',
      situation(podOf({ phase: 'Failed', reason: 'DeadlineExceeded' })),
      'ended',
      'infrastructure',
      'did not start within',
    ],
    [
      'node gone',
      situation(
        podOf({ ...both, conditions: [no('Ready'), yes('DisruptionTarget', 'DeletionByTaintManager')] }),
      ),
      'ended',
      'infrastructure',
      "its node 'node-a' is gone",
    ],
    [
      'drained',
      situation(podOf({ ...both, conditions: [yes('DisruptionTarget', 'EvictionByEvictionAPI', 'drain')] })),
      'ended',
      'infrastructure',
      'its pod was evicted: drain',
    ],
    [
      'preempted',
      situation(podOf({ conditions: [yes('DisruptionTarget', 'PreemptionByScheduler')] })),
      'ended',
      'infrastructure',
      'preempted',
    ],
    [
      'refused by its node',
      situation(podOf({ phase: 'Failed', reason: 'OutOfcpu', message: 'no cpu' })),
      'ended',
      'infrastructure',
      'its node refused its pod: OutOfcpu: no cpu',
    ],
    [
      'init container',
      situation(podOf({ init: ended(3, 'Error', 'no such bundle') })),
      'ended',
      'infrastructure',
      'its runtime was not copied (exit 3): no such bundle',
    ],
    [
      'libraries missing in the image',
      situation(podOf({ starts: ended(127, 'Error', 'libstdc++.so.6: cannot open shared object file') })),
      'ended',
      'arm',
      "the bundle's Node does not run on the task's image (exit 127): libstdc++.so.6",
    ],
    [
      'another C library in the image',
      situation(podOf({ starts: ended(128, 'StartError', 'no such file or directory') })),
      'ended',
      'arm',
      "the bundle's Node does not run on the task's image (exit 128): no such file",
    ],
    [
      'killed before the trial',
      situation(podOf({ starts: ended(137) })),
      'ended',
      'infrastructure',
      "its container 'starts' was killed",
    ],
    [
      'no shell in the image',
      situation(podOf({ gate: running, trial: ended(128, 'StartError', 'exec: no such file') })),
      'ended',
      'infrastructure',
      "its container 'trial' can't be started: exec",
    ],
    [
      'pod deleted, and its gate killed by that',
      situation(podOf({ gate: ended(137), deletionTimestamp: '2026-01-02T03:04:00Z' })),
      'ended',
      'infrastructure',
      'its pod was deleted',
    ],
    [
      'pod deleted',
      situation(podOf(both), { podGone: true }),
      'ended',
      'infrastructure',
      'its pod was deleted',
    ],
    [
      'Job deleted',
      situation(podOf(both), { podGone: true, jobGone: true }),
      'ended',
      'infrastructure',
      'its Job was deleted',
    ],
    [
      'Job deleted before a pod was seen',
      situation(undefined, { jobGone: true }),
      'ended',
      'infrastructure',
      'its Job was deleted',
    ],
    [
      'pod gone, Job failed',
      situation(undefined, { job: jobOf(yes('Failed', 'BackoffLimitExceeded')) }),
      'ended',
      'infrastructure',
      'its pod was gone before',
    ],
    [
      'terminating for too long',
      situation(podOf({ ...both, deletionTimestamp: '2026-01-02T03:00:00Z' })),
      'ended',
      'infrastructure',
      "its node 'node-a' is gone",
    ],
    [
      'image missing',
      situation(
        podOf({ phase: 'Pending', trial: { waiting: { reason: 'ImagePullBackOff', message: '404' } } }),
      ),
      'structural',
      'infrastructure',
      "the image of 'trial' can't be pulled: 404",
    ],
    [
      'registry busy',
      situation(
        podOf({ phase: 'Pending', gate: { waiting: { reason: 'ErrImagePull', message: '429 Too Many' } } }),
      ),
      'capacity',
      'infrastructure',
      'the registry is busy',
    ],
    [
      'config',
      situation(
        podOf({
          phase: 'Pending',
          gate: { waiting: { reason: 'CreateContainerConfigError', message: 'no secret' } },
        }),
      ),
      'structural',
      'infrastructure',
      "'gate' can't be configured",
    ],
    [
      'no room',
      situation(
        podOf({
          phase: 'Pending',
          conditions: [no('PodScheduled', 'Unschedulable', '0/2: 2 Insufficient cpu.')],
        }),
      ),
      'capacity',
      'infrastructure',
      'no node has room',
    ],
    [
      'no node',
      situation(
        podOf({
          phase: 'Pending',
          conditions: [no('PodScheduled', 'Unschedulable', "0/2: 2 node(s) didn't match selector.")],
        }),
      ),
      'structural',
      'infrastructure',
      'no node takes its pod',
    ],
    [
      'claim missing',
      situation(
        podOf({
          phase: 'Pending',
          conditions: [no('PodScheduled', 'Unschedulable', 'persistentvolumeclaim "t" not found')],
        }),
      ),
      'structural',
      'infrastructure',
      "its claim can't be used",
    ],
    [
      'volume',
      situation(podOf({ phase: 'Pending' }), { events: [event('FailedMount', 'timed out')] }),
      'structural',
      'infrastructure',
      "a volume can't be mounted: timed out",
    ],
    [
      'node away',
      situation(podOf({ ...both, conditions: [no('Ready')] })),
      'capacity',
      'infrastructure',
      'does not answer',
    ],
    [
      'quota',
      situation(undefined, { events: [event('FailedCreate', 'pods "x" is forbidden: exceeded quota: q')] }),
      'capacity',
      'infrastructure',
      'quota is used up',
    ],
    [
      'quota that is too small for any',
      situation(undefined, {
        events: [
          event(
            'FailedCreate',
            'pods "x" is forbidden: exceeded quota: q, requested: requests.cpu=4, used: requests.cpu=0, limited: requests.cpu=2',
          ),
        ],
      }),
      'structural',
      'infrastructure',
      "the namespace's quota never has room for its pod",
    ],
    [
      'limits',
      situation(undefined, {
        events: [
          event('FailedCreate', 'forbidden: maximum memory usage per Container is 1Gi, but limit is 8Gi'),
        ],
      }),
      'structural',
      'infrastructure',
      "the namespace's limits refuse its pod",
    ],
    [
      'Pod Security',
      situation(undefined, { events: [event('FailedCreate', 'violates PodSecurity "restricted"')] }),
      'structural',
      'infrastructure',
      'Pod Security level refuses its pod',
    ],
    [
      'namespace on its way out',
      situation(undefined, { events: [event('FailedCreate', 'because it is being terminated')] }),
      'structural',
      'infrastructure',
      'its namespace is being deleted',
    ],
    [
      'another architecture',
      situation(
        podOf({
          phase: 'Pending',
          trial: { waiting: { reason: 'ErrImagePull', message: 'no match for platform in manifest' } },
        }),
      ),
      'structural',
      'infrastructure',
      "the image of 'trial' does not run on the node's architecture",
    ],
    [
      'scale-up',
      situation(
        podOf({ phase: 'Pending', conditions: [no('PodScheduled', 'Unschedulable', "0/2: didn't match")] }),
        { events: [event('TriggeredScaleUp', 'pod triggered scale-up')] },
      ),
      'capacity',
      'infrastructure',
      'making room',
    ],
  ])('%s', (_, about, kind, fault, why) => {
    const found = causeOf(about);
    expect([found?.kind, found?.fault]).toEqual([kind, fault] as never);
    expect(found!.why).toContain(why);
  });

  test.each<[string, Situation]>([
    ['runs', situation(podOf(both))],
    ['the trial ended, the gate verifies', situation(podOf({ gate: running, trial: ended(0, 'Completed') }))],
    ['the trial was killed, the gate will say so', situation(podOf({ gate: running, trial: ended(137) }))],
    ['is on its way out', situation(podOf({ ...both, deletionTimestamp: '2026-01-02T03:04:00Z' }))],
    ['has no pod yet', situation(undefined)],
  ])('none while it %s', (_, about) => expect(causeOf(about)).toBeUndefined());
});

describe('giving up', () => {
  const structural = { kind: 'structural', fault: 'infrastructure', why: "can't be pulled: try 1" } as const;
  test('what stands unchanged, also in other words, for the settle time', () => {
    const settling = new Settling(1000);
    expect(settling.isOver('a', structural, 0)).toBe(false);
    expect(settling.isOver('a', { ...structural, why: "can't be pulled: try 2" }, 999)).toBe(false);
    expect(settling.isOver('b', structural, 1000)).toBe(false);
    expect(settling.isOver('a', structural, 1000)).toBe(true);
  });
  test('what came between begins anew', () => {
    const settling = new Settling(1000);
    settling.isOver('a', structural, 0);
    settling.isOver('a', undefined, 500);
    expect(settling.isOver('a', structural, 1200)).toBe(false);
  });
  test('never for room, at once for an end', () => {
    const settling = new Settling(0);
    expect(settling.isOver('a', { ...structural, kind: 'capacity' }, 1e9)).toBe(false);
    expect(settling.isOver('a', { ...structural, kind: 'ended' }, 0)).toBe(true);
  });
});

const IMAGE = `registry.example/task@sha256:${'a'.repeat(64)}`;
const trial: Trial = {
  job: 'job',
  task: 'a',
  arm: 'pi',
  attempt: 2,
  image: IMAGE,
  sha256: '0'.repeat(64),
  limit_s: 60,
};
const expected = { trial, model: 'm' };
const line: TrialLine = {
  t: 'trial',
  task: 'a',
  arm: 'pi',
  attempt: 2,
  model: 'm',
  image: IMAGE,
  reward: 1,
  agentExit: 0,
  agentWallMs: 1,
  agentCpuMs: 1,
  assistantMessages: 1,
  usage: null,
  verifierExit: 0,
  verifierWallMs: 1,
};
const text = JSON.stringify(line);

describe('a result line', () => {
  test.each([
    ['alone', text],
    ['among noise', `starting\n${text}\nbye\n`],
    ['after a cut one', `${text.slice(0, 60)}\n${text}`],
    ['before a cut one', `${text}\n${text.slice(0, 60)}`],
  ])('%s is found', (_, written) => expect(lineIn(written, expected)).toEqual({ line }));

  test.each([
    ['nothing', '', undefined],
    ['noise', 'hello\n{"t":"sample"}', undefined],
    ['half of one', text.slice(0, -20), 'its result line is cut'],
    ['no reward and no reason', JSON.stringify({ ...line, reward: null }), 'error: expected'],
    ['another task', JSON.stringify({ ...line, task: 'b' }), "is of another trial: task 'b'"],
    ['another attempt', JSON.stringify({ ...line, attempt: 3 }), "is of another trial: attempt '3'"],
    ['another image', JSON.stringify({ ...line, image: 'x' }), 'is of another trial: image'],
    ['another model', JSON.stringify({ ...line, model: 'n' }), "is of another trial: model 'n'"],
  ])('%s is none', (_, written, wrong) => {
    const found = lineIn(written, expected);
    if (wrong === undefined) expect(found).toBeUndefined();
    else expect(found).toEqual({ wrong: expect.stringContaining(wrong) });
  });
});

describe('a kept line', () => {
  const of = { name: 'job', uid: 'uid-job' };
  const silent: TrialLine = {
    ...line,
    reward: null,
    error: "the trial's container ended without a word: killed, or out of memory",
    fault: 'infrastructure',
  };
  const told = { ...silent, error: 'the staged tests differ from tasks.lock' };
  const byDeadline = { ...silent, error: 'the pod was ended: by its deadline, an eviction or a deletion' };
  test.each<[string, TrialLine, TrialPod, string | undefined, string | undefined]>([
    ['a verdict stays', line, podOf({ trial: ended(137, 'OOMKilled') }), undefined, undefined],
    ['out of memory', silent, podOf({ trial: ended(137, 'OOMKilled') }), 'agent', 'more memory than it may'],
    ['killed from outside', silent, podOf({ trial: ended(137) }), 'infrastructure', 'was killed'],
    ['ended by what ran in it', silent, podOf({ trial: ended(143) }), 'agent', 'without a word (exit 143)'],
    ['still there, but silent', silent, podOf(both), 'infrastructure', 'without a word'],
    ['another reason stays', told, podOf({ trial: ended(1) }), 'infrastructure', 'staged tests differ'],
    [
      'its own disk',
      byDeadline,
      podOf({ reason: 'Evicted', message: 'Pod ephemeral local storage usage exceeds the total limit' }),
      'agent',
      'filled its disk',
    ],
    [
      'a drain',
      byDeadline,
      podOf({ trial: ended(143), conditions: [yes('DisruptionTarget', 'EvictionByEvictionAPI')] }),
      'infrastructure',
      'evicted',
    ],
  ])('%s', (_, given, pod, fault, error) => {
    const kept = keptLine(given, of, pod);
    expect(kept.fault).toBe(fault as never);
    if (error !== undefined) expect(kept.error).toContain(error);
    expect(kept).toMatchObject({ job: 'job', jobUid: 'uid-job', pod: 'pod', node: 'node-a' });
  });

  test('of a trial without any line has nothing measured', () =>
    expect(
      lostLine(expected, { why: 'its gate was killed', fault: 'infrastructure' }, of, undefined),
    ).toMatchObject({
      reward: null,
      agentWallMs: null,
      usage: null,
      error: 'its gate was killed',
      fault: 'infrastructure',
      jobUid: 'uid-job',
    }));
});

describe('a model whose server restarts', () => {
  const at = (second: number): string => `2026-01-02T03:04:${String(second).padStart(2, '0')}Z`;
  const worked = podOf({
    trial: { terminated: { exitCode: 0, startedAt: at(10), finishedAt: at(40) } },
    gate: { terminated: { exitCode: 0, startedAt: at(9), finishedAt: at(40) } },
  });
  const engine = (state: ContainerStatus['state'], last?: ContainerStatus['lastState']): TrialPod => ({
    ...podOf(),
    status: {
      containerStatuses: [
        { name: 'engine', ...(state ? { state } : {}), ...(last ? { lastState: last } : {}) },
      ],
    },
  });
  const started = (second: number) => engineMoments(engine({ running: { startedAt: at(second) } }));
  const verified = { ...line, verifierWallMs: 5000 };

  test.each([
    ['long before', started(2), 1],
    ['in the same second', started(10), 1],
    ['while it worked', started(20), null],
    ['while its work was verified', started(38), 1],
    ['afterwards', started(50), 1],
    [
      'ended while it worked, and came back afterwards',
      engineMoments(
        engine(
          { running: { startedAt: at(50) } },
          { terminated: { exitCode: 137, startedAt: at(2), finishedAt: at(30) } },
        ),
      ),
      null,
    ],
    [
      'deleted while it worked',
      engineMoments({ ...engine(running), metadata: { ...meta('m'), deletionTimestamp: at(25) } }),
      null,
    ],
  ])('%s', (_, moments, reward) => {
    const kept = voided(verified, worked, moments);
    expect(kept.reward).toBe(reward);
    if (reward === null)
      expect(kept).toMatchObject({
        error: "the model's server restarted while the agent worked",
        fault: 'infrastructure',
        void: { reward: 1 },
      });
  });

  test('makes nothing good: a trial that the agent spoiled stays spoiled, and is not tried again', () => {
    const spoiled: TrialLine = { ...verified, reward: null, error: 'asked', fault: 'agent' };
    expect(voided(spoiled, worked, started(20))).toBe(spoiled);
  });
});
