import { describe, expect, test } from 'bun:test';
import { CAUSES, type CauseName } from './cause-table.ts';
import { causeOf, Settling, type Situation } from './causes.ts';
import type { Pod } from './objects.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const pod = (status: object = {}, metadata: object = {}): Pod =>
  ({
    metadata: { name: 'p', uid: 'u', resourceVersion: '1', ...metadata },
    spec: { nodeName: 'node-1', containers: [{ name: 'bench' }] },
    status: { phase: 'Running', ...status },
  }) as unknown as Pod;
const state = (one: object): object => ({ containerStatuses: [{ name: 'bench', state: one }] });
const waiting = (reason: string, message: string): Partial<Situation> => ({
  pods: [pod({ phase: 'Pending', ...state({ waiting: { reason, message } }) })],
});
const unscheduled = (message: string, reason = 'Unschedulable'): Partial<Situation> => ({
  pods: [pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason, message }] })],
});
const failedCreate = (message: string): Partial<Situation> => ({
  events: [{ reason: 'FailedCreate', message }] as unknown as Situation['events'],
});
const disrupted = (reason: string, more: object = {}): Partial<Situation> => ({
  pods: [
    pod({
      conditions: [
        { type: 'DisruptionTarget', status: 'True', reason, message: 'said so' },
        ...((more as any).conditions ?? []),
      ],
      ...state({ running: {} }),
    }),
  ],
});
const situation = (more: Partial<Situation>): Situation => ({
  job: undefined,
  jobGone: false,
  pods: [],
  gonePods: new Set(),
  events: [],
  now: NOW,
  ...more,
});

const NODES = '0/3 nodes are available: ';
const ROWS: readonly (readonly [string, Partial<Situation>, CauseName | undefined, RegExp?])[] = [
  ['all is well', { pods: [pod(state({ running: {} }))] }, undefined],
  ['nothing is known yet', {}, undefined],
  [
    'it ended by itself',
    { pods: [pod({ phase: 'Failed', ...state({ terminated: { exitCode: 1, reason: 'Error' } }) })] },
    undefined,
  ],
  [
    'no such image',
    waiting('ErrImagePull', 'registry/x:1: not found'),
    'image',
    /x:1: not found; check name/,
  ],
  [
    'back-off after that',
    waiting('ImagePullBackOff', 'Back-off pulling image "x": ErrImagePull: denied'),
    'image',
  ],
  [
    'no such registry',
    waiting('ErrImagePull', 'dial tcp: lookup regsitry.example on 10.0.0.10:53: no such host'),
    'image',
  ],
  [
    'a registry that nobody answers for',
    waiting(
      'ImagePullBackOff',
      'failed to do request: Head "https://r/v2/": dial tcp 192.0.2.1:443: i/o timeout',
    ),
    'image',
  ],
  ['no answer in time', waiting('ErrImagePull', 'rpc error: context deadline exceeded'), 'image'],
  ['429', waiting('ImagePullBackOff', 'unexpected status: 429 Too Many Requests'), 'registry-busy'],
  ['503', waiting('ErrImagePull', 'unexpected status from HEAD: 503 Service Unavailable'), 'registry-busy'],
  [
    'another platform',
    waiting('ErrImagePull', 'no match for platform in manifest: not found'),
    'wrong-architecture',
  ],
  ['config', waiting('CreateContainerConfigError', 'secret "a" not found'), 'config'],
  ['start', waiting('CreateContainerError', 'no such file'), 'container-start'],
  [
    'exec format',
    {
      pods: [
        pod(state({ terminated: { exitCode: 128, reason: 'StartError', message: 'exec format error' } })),
      ],
    },
    'wrong-architecture',
  ],
  ['OOM', { pods: [pod(state({ terminated: { exitCode: 137, reason: 'OOMKilled' } }))] }, 'out-of-memory'],
  [
    'mount',
    { ...waiting('ContainerCreating', ''), events: [{ reason: 'FailedMount', message: 'timed out' }] as any },
    'volume',
    /timed out/,
  ],
  ...(['SuccessfulAttachVolume', 'Pulling', 'Pulled', 'Created'] as const).map(
    (reason) =>
      [
        `a mount that failed before '${reason}'`,
        { ...waiting('ContainerCreating', ''), events: [{ reason: 'FailedMount' }, { reason }] as any },
        undefined,
      ] as const,
  ),
  [
    'a mount that fails again after the volume came: the same event, seen later',
    {
      ...waiting('ContainerCreating', ''),
      events: [
        { reason: 'FailedMount', message: 'wrong fs', lastTimestamp: '2026-01-02T03:04:03Z' },
        { reason: 'SuccessfulAttachVolume', lastTimestamp: '2026-01-02T03:04:01Z' },
      ] as any,
    },
    'volume',
    /wrong fs/,
  ],
  [
    'a mount that failed before, listed last',
    {
      ...waiting('ContainerCreating', ''),
      events: [
        { reason: 'Pulling', lastTimestamp: '2026-01-02T03:04:03Z' },
        { reason: 'FailedAttachVolume', lastTimestamp: '2026-01-02T03:04:01Z' },
      ] as any,
    },
    undefined,
  ],
  [
    'taint',
    unscheduled(
      `${NODES}3 node(s) had untolerated taint {a: b}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.`,
    ),
    'unschedulable',
    /taint \{a: b\}; change node/,
  ],
  ['selector', unscheduled(`${NODES}3 node(s) didn't match Pod's node affinity/selector.`), 'unschedulable'],
  ['room', unscheduled(`${NODES}1 Insufficient cpu, 2 node(s) had untolerated taint {a: b}.`), 'no-room'],
  ['memory', unscheduled(`${NODES}3 Insufficient memory.`), 'no-room'],
  ['another session', unscheduled(`${NODES}1 node(s) didn't match pod anti-affinity rules.`), 'no-room'],
  [
    'pods that keep away from it',
    unscheduled(`${NODES}1 node(s) didn't satisfy existing pods anti-affinity rules.`),
    'no-room',
    /rules\. \(other pods keep away .* five more minutes/,
  ],
  ['claim', unscheduled('persistentvolumeclaim "r" not found'), 'claim'],
  ['gate', unscheduled('Scheduling is blocked', 'SchedulingGated'), 'held'],
  [
    'scale-up',
    { ...unscheduled(`${NODES}3 Insufficient cpu.`), events: [{ reason: 'TriggeredScaleUp' }] as any },
    'scaling-up',
  ],
  [
    'quota, never',
    failedCreate(
      'pods "x" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=0, limited: requests.cpu=1',
    ),
    'quota',
  ],
  [
    'quota, now',
    failedCreate(
      'pods "x" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1500m',
    ),
    'quota-full',
  ],
  [
    'limits',
    failedCreate('pods "x" is forbidden: maximum memory usage per Container is 1Gi, but limit is 8Gi'),
    'limit-range',
  ],
  [
    'security',
    failedCreate('pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot'),
    'pod-security',
  ],
  ['webhook', failedCreate('admission webhook "w" denied the request: no'), 'admission'],
  [
    'namespace',
    failedCreate('unable to create new content in namespace n because it is being terminated'),
    'namespace-terminating',
  ],
  [
    'evicted',
    { pods: [pod({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' })] },
    'evicted',
    /low on resource: memory;/,
  ],
  [
    'more written than it may',
    {
      pods: [
        pod({
          phase: 'Failed',
          reason: 'Evicted',
          message: 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". ',
        }),
      ],
    },
    'scratch-full',
    /scratch space was used up: Usage of EmptyDir volume "data" exceeds the limit "1Mi"; ask for more/,
  ],
  [
    'a node without space',
    {
      pods: [
        pod({
          phase: 'Failed',
          reason: 'Evicted',
          message: 'The node was low on resource: ephemeral-storage. ',
        }),
      ],
    },
    'evicted',
  ],
  ['drained', disrupted('EvictionByEvictionAPI'), 'evicted'],
  ['preempted', disrupted('PreemptionByScheduler'), 'preempted'],
  ['tainted away', disrupted('DeletionByTaintManager'), 'evicted'],
  [
    'tainted away since its node is not heard of',
    disrupted('DeletionByTaintManager', { conditions: [{ type: 'Ready', status: 'False' }] }),
    'node-gone',
  ],
  ['collected', disrupted('DeletionByPodGC'), 'node-gone'],
  [
    'not heard of',
    { pods: [pod({ conditions: [{ type: 'Ready', status: 'False' }], ...state({ running: {} }) })] },
    'node-away',
    /'node-1'/,
  ],
  ['shut down', { pods: [pod({ phase: 'Failed', reason: 'NodeShutdown' })] }, 'node-gone'],
  [
    'topology',
    { pods: [pod({ phase: 'Failed', reason: 'TopologyAffinityError', message: 'no' })] },
    'kubelet-refused',
  ],
  [
    'admission of the kubelet',
    { pods: [pod({ phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'no' })] },
    'kubelet-refused',
  ],
  [
    'a deletion nobody confirms',
    { pods: [pod(state({ running: {} }), { deletionTimestamp: '2026-01-02T03:00:00Z' })] },
    'node-gone',
  ],
  [
    'a deletion',
    { pods: [pod(state({ running: {} }), { deletionTimestamp: '2026-01-02T03:04:00Z' })] },
    'pod-deleted',
  ],
  ['the pod is gone', { pods: [pod()], gonePods: new Set(['u']) }, 'pod-deleted'],
  ['the Job is gone', { jobGone: true }, 'job-deleted'],
  ['another pod than an earlier runner saw', { pods: [pod()], knownPod: 'before' }, 'second-pod'],
  ['the pod that an earlier runner saw', { pods: [pod()], knownPod: 'u' }, undefined],
  ['two pods', { pods: [pod(), pod({}, { uid: 'v' })] }, 'second-pod'],
  [
    'deadline',
    {
      job: {
        status: { conditions: [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }] },
      } as any,
    },
    'deadline',
    /no data, which is not the same as slow; give/,
  ],
  [
    'deadline while it waited',
    {
      ...unscheduled(`${NODES}3 Insufficient cpu.`),
      job: {
        status: { conditions: [{ type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded' }] },
      } as any,
    },
    'deadline',
    /slow \(no node has room/,
  ],
];

describe('causes', () => {
  test.each(ROWS.map(([about, more, name, says]) => ({ about, more, name, says })))(
    '$about',
    ({ more, name, says }) => {
      const found = causeOf(situation(more));
      expect(found?.name).toBe(name!);
      if (found) expect(found.kind === CAUSES[found.name].kind || found.kind === 'final').toBe(true);
      if (says) expect(found!.message).toMatch(says);
      expect(found?.message ?? '').not.toContain('$');
    },
  );

  test('every name of the table is recognized somewhere', () => {
    const made = new Set(ROWS.map(([, , name]) => name));
    expect(Object.keys(CAUSES).filter((name) => !made.has(name as CauseName))).toEqual([]);
  });
});

describe('settling', () => {
  const image = causeOf(situation(waiting('ErrImagePull', 'x')))!;
  const room = causeOf(situation(unscheduled(`${NODES}3 Insufficient cpu.`)))!;
  test('a structural cause must stand unchanged', () => {
    const settling = new Settling(90_000);
    expect([0, 89_000].map((at) => settling.ends(image, at))).toEqual([false, false]);
    expect(settling.ends(undefined, 89_500)).toBe(false);
    expect([89_600, 179_000, 179_600].map((at) => settling.ends(image, at))).toEqual([false, false, true]);
  });
  test('capacity is waited for; what is final ends at once', () => {
    const settling = new Settling(1);
    expect([0, 1e9].map((at) => settling.ends(room, at))).toEqual([false, false]);
    expect(settling.ends(causeOf(situation({ jobGone: true })), 1e9)).toBe(true);
  });
});
