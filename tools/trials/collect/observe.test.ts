/** What watches tell, each for itself; and ends of an engine that nobody saw. */
import { describe, expect, test } from 'bun:test';
import type { Cluster } from '../../../shared/kubernetes.ts';
import type { TrialPod } from './objects.ts';
import { Observer } from './observe.ts';
import { EngineEnds } from './outages.ts';

describe('a watch that is in trouble', () => {
  /** Jobs come all the time; the pods' watch is in trouble until `mended`. */
  const observed = (signal: AbortSignal, mended: Promise<void>): Observer => {
    let made = 0;
    const cluster = {
      async *watch(kind: string, scope: { labelSelector: string }) {
        yield { type: 'complete' };
        if (!scope.labelSelector.includes('=run')) return;
        while (!signal.aborted) {
          await Bun.sleep(5);
          if (kind === 'jobs') yield { type: 'is', object: { metadata: { uid: 'u', name: `j${made++}` } } };
          else {
            yield { type: 'trouble', error: new Error('the pods are out of reach') };
            await mended;
            yield { type: 'complete' };
            return;
          }
        }
      },
    } as unknown as Cluster;
    const of = { namespace: 'n', run: 'run', model: { id: 'm' } } as ConstructorParameters<
      typeof Observer
    >[1];
    return new Observer(cluster, of, signal, () => undefined);
  };

  test('is away until it is back itself, whatever the others tell', async () => {
    const [controller, mended] = [new AbortController(), Promise.withResolvers<void>()];
    const observer = observed(controller.signal, mended.promise);
    while (!observer.away) await observer.changed(50, controller.signal);
    const { since } = observer.away;
    for (let at = 0; at < 10; at++) await observer.changed(50, controller.signal);
    expect(observer.away).toEqual({ since, trouble: 'the pods are out of reach' });
    mended.resolve();
    for (let at = 0; observer.away && at < 100; at++) await observer.changed(50, controller.signal);
    expect(observer.away).toBeUndefined();
    controller.abort();
  });
});

describe('ends of an engine that nobody saw', () => {
  const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  const ended = (from: number, to: number) => ({ startedAt: at(from), finishedAt: at(to) });
  const pod = (restartCount: number, state: object, last?: object): TrialPod =>
    ({
      metadata: { uid: 'u', name: 'engine' },
      spec: {},
      status: {
        containerStatuses: [
          { name: 'engine', restartCount, state, ...(last ? { lastState: { terminated: last } } : {}) },
        ],
      },
    }) as unknown as TrialPod;
  const running = (from: number) => ({ running: { startedAt: at(from) } });

  test.each<[string, TrialPod[], ({ ends: number; before: string } | undefined)[]]>([
    ['never ended', [pod(0, running(0))], [undefined]],
    ['one, told', [pod(1, running(9), ended(0, 8))], [undefined]],
    ['three, the last told', [pod(3, running(9), ended(6, 8))], [{ ends: 2, before: at(6) }]],
    ['waits before it is begun again', [pod(1, { waiting: {} }, ended(6, 8))], [{ ends: 1, before: at(6) }]],
    [
      'each seen as it came',
      [pod(0, running(0)), pod(1, running(2), ended(0, 1)), pod(2, running(5), ended(2, 4))],
      [undefined, undefined, undefined],
    ],
    [
      'one missed on the way, said once',
      [pod(0, running(0)), pod(2, running(5), ended(2, 4)), pod(2, running(5), ended(2, 4))],
      [undefined, { ends: 1, before: at(2) }, undefined],
    ],
  ])('%s', (_, pods, wanted) => {
    const ends = new EngineEnds();
    expect(pods.map((one) => ends.untold(one))).toEqual(wanted);
  });
});
