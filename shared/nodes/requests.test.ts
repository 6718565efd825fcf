import { describe, expect, test } from 'bun:test';
import { NANO } from '../quantity.ts';
import type { Container, Pod, Requests } from './objects.ts';
import { countsOn, podRequests } from './requests.ts';

const cpu = (name: string, amount: string | undefined, more: Partial<Container> = {}): Container => ({
  name,
  ...(amount === undefined ? {} : { resources: { requests: { cpu: amount } } }),
  ...more,
});
const both = (requests: Requests): Container => ({ name: 'a', resources: { requests } });
const size = (one: Container): number => Number(one.resources!.requests!['cpu']);
const sidecar = (name: string, amount: string): Container => cpu(name, amount, { restartPolicy: 'Always' });
const pod = (spec: Partial<Pod['spec']>, status: Pod['status'] = {}): Pod => ({
  metadata: { name: 'p' },
  spec: { containers: [], ...spec },
  status,
});
/** CPUs in thousandths. */
const milli = (one: Pod): number => Number((podRequests(one).cpu * 1000n) / NANO);

const status = (actual?: string, allocated?: string): object => ({
  name: 'a',
  ...(actual === undefined ? {} : { resources: { requests: { cpu: actual } } }),
  ...(allocated === undefined ? {} : { allocatedResources: { cpu: allocated } }),
});
const resize = (spec: string, actual?: string, allocated?: string, reason?: string): Pod =>
  pod(
    { containers: [cpu('a', spec)] },
    {
      containerStatuses: [status(actual, allocated) as never],
      ...(reason ? { conditions: [{ type: 'PodResizePending', reason }] } : {}),
    },
  );

describe('a pod asks for', () => {
  test.each<[string, Pod, number]>([
    ['nothing', pod({ containers: [cpu('a', undefined)] }), 0],
    [
      'the sum of its containers',
      pod({ containers: [cpu('a', '100m'), cpu('b', '0.25'), cpu('c', undefined)] }),
      350,
    ],
    ['its sidecars, too', pod({ containers: [cpu('a', '1')], initContainers: [sidecar('s', '500m')] }), 1500],
    [
      'an init container when that is larger',
      pod({ containers: [cpu('a', '1')], initContainers: [cpu('i', '3'), cpu('j', '2')] }),
      3000,
    ],
    ['not a smaller one', pod({ containers: [cpu('a', '1')], initContainers: [cpu('i', '900m')] }), 1000],
    [
      'an init container and the sidecars before it',
      pod({ containers: [cpu('a', '1')], initContainers: [sidecar('s', '1'), cpu('i', '2')] }),
      3000,
    ],
    [
      'not the sidecars after it',
      pod({ containers: [cpu('a', '1')], initContainers: [cpu('i', '2'), sidecar('s', '1')] }),
      2000,
    ],
    [
      'between sidecars',
      pod({ containers: [], initContainers: [sidecar('s', '1'), cpu('i', '2'), sidecar('t', '4')] }),
      5000,
    ],
    ['its overhead', pod({ containers: [cpu('a', '1')], overhead: { cpu: '250m' } }), 1250],
    [
      'what the pod as a whole says',
      pod({ containers: [cpu('a', '1'), cpu('b', '1')], resources: { requests: { cpu: '5' } } }),
      5000,
    ],
    [
      'that also when it is less',
      pod({ containers: [cpu('a', '4')], resources: { requests: { cpu: '2' } }, overhead: { cpu: '1' } }),
      3000,
    ],
    [
      'its containers when the pod says nothing of CPU',
      pod({ containers: [cpu('a', '4')], resources: { requests: { memory: '1Gi' } } }),
      4000,
    ],
    ['resized: the spec, larger', resize('3', '2', '1'), 3000],
    ['resized: what runs, larger', resize('1', '3', '2'), 3000],
    ['resized: what is set aside, larger', resize('1', '2', '3'), 3000],
    ['resized: deferred counts the spec', resize('3', '2', '1', 'Deferred'), 3000],
    ['resized: infeasible does not', resize('3', '1', '2', 'Infeasible'), 2000],
    ['set aside alone does not count', resize('1', undefined, '3'), 1000],
    [
      'not what an init container ran with',
      pod({ initContainers: [cpu('a', '1')] }, { initContainerStatuses: [status('9', '9') as never] }),
      1000,
    ],
    [
      'what a sidecar runs with',
      pod({ initContainers: [sidecar('a', '1')] }, { initContainerStatuses: [status('2', '3') as never] }),
      3000,
    ],
    [
      'not the status of a container with another name',
      pod({ containers: [cpu('b', '1')] }, { containerStatuses: [status('9') as never] }),
      1000,
    ],
    [
      'the whole pod resized',
      pod(
        { containers: [cpu('a', '1')], resources: { requests: { cpu: '2' } } },
        { resources: { requests: { cpu: '3' } }, allocatedResources: { cpu: '4' } },
      ),
      4000,
    ],
  ])('%s', (_, one, expected) => expect(milli(one)).toBe(expected));

  test('CPU and memory apart', () => {
    const one = pod({
      containers: [both({ cpu: '1', memory: '1Gi' })],
      initContainers: [both({ cpu: '2', memory: '1Mi' })],
    });
    expect(podRequests(one)).toEqual({ cpu: 2n * NANO, memory: 2n ** 30n * NANO });
  });

  test('as much as the moment at which it needs most', () => {
    let state = 3;
    const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;
    for (let round = 0; round < 2000; round++) {
      const some = (prefix: string): Container[] =>
        Array.from({ length: random(4) }, (_, at) =>
          cpu(`${prefix}${at}`, `${random(5)}`, random(2) === 0 ? {} : { restartPolicy: 'Always' }),
        );
      const [containers, initContainers] = [
        some('c').map(({ name, resources }) => ({ name, resources: resources! })),
        some('i'),
      ];
      /** Every moment: each init container beside the sidecars that run then, and the pod once it has started. */
      const moments: number[] = [];
      const running: number[] = [];
      const sum = (): number => running.reduce((all, one) => all + one, 0);
      for (const one of initContainers) {
        moments.push(sum() + size(one));
        if (one.restartPolicy) running.push(size(one));
      }
      for (const one of containers) running.push(size(one));
      moments.push(sum());
      expect(milli(pod({ containers, initContainers }))).toBe(1000 * Math.max(...moments));
    }
  });
});

test.each<[string, string | undefined, string | undefined]>([
  ['Running', 'n', 'n'],
  ['Pending', 'n', 'n'],
  ['Unknown', 'n', 'n'],
  ['Succeeded', 'n', undefined],
  ['Failed', 'n', undefined],
  ['Pending', undefined, undefined],
])('a pod that is %s on %p counts on %p', (phase, nodeName, counts) =>
  expect(countsOn(pod(nodeName ? { nodeName } : {}, { phase }))).toBe(counts),
);
