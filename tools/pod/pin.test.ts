import { describe, expect, test } from 'bun:test';
import { choosePin, idleShares } from './pin.ts';
import { SessionError } from './session-error.ts';
import type { Core } from '../../shared/topology.ts';

const never = async (): Promise<Map<number, number>> => {
  throw new Error('idle shares were asked for without need');
};
const cores = (...cpus: number[]): Core[] => cpus.map((cpu) => ({ cpu }));
const shares =
  (...values: [number, number][]) =>
  async () =>
    new Map(values);

/** The spec's rule with ours between equal shares, written so that nobody can get it wrong: repeatedly take the best. */
const slowQuietest = (all: readonly Core[], idle: Map<number, number>, count: number): number[] => {
  const left = [...all];
  const taken: number[] = [];
  while (taken.length < count && left.length > 0) {
    let best = left[0]!;
    for (const one of left) {
      const better = (): boolean => {
        if (idle.get(one.cpu)! !== idle.get(best.cpu)!) return idle.get(one.cpu)! > idle.get(best.cpu)!;
        if ((one.capacity ?? 1) !== (best.capacity ?? 1)) return (one.capacity ?? 1) > (best.capacity ?? 1);
        const busiest = (core: Core): number =>
          Math.min(...(core.siblings ?? []).map((cpu) => idle.get(cpu) ?? 0));
        const free = (core: Core): boolean => busiest(core) >= idle.get(core.cpu)!;
        if (free(one) !== free(best)) return free(one);
        return one.cpu < best.cpu;
      };
      if (better()) best = one;
    }
    taken.push(best.cpu);
    left.splice(left.indexOf(best), 1);
  }
  return taken.toSorted((a, b) => a - b);
};

describe('pin', () => {
  test('as many as asked for, or fewer: all of them', async () => {
    const { method, cpus } = await choosePin('auto', 2, cores(3, 5), never);
    expect({ method, cpus }).toEqual({ method: 'all-allowed', cpus: [3, 5] });
    expect((await choosePin('auto', 8, cores(3, 5), never)).method).toBe('all-allowed');
  });

  test('none pins nothing, and every allowed core is measured', async () => {
    const { method, cpus } = await choosePin('none', 1, cores(0, 1, 2), never);
    expect({ method, cpus }).toEqual({ method: 'none', cpus: [0, 1, 2] });
  });

  test('a list must lie inside the allowed cores', async () => {
    expect((await choosePin('1-2', 1, cores(0, 1, 2), never)).cpus).toEqual([1, 2]);
    await expect(choosePin('0,7', 2, cores(0, 1), never)).rejects.toThrow(
      "'7' lies outside the allowed cores '0-1'",
    );
  });

  test('quietest: largest idle share, ties to the lower id', async () => {
    const idle = shares([0, 0.9], [1, 1], [2, 0.95], [3, 1], [4, 1]);
    const { method, cpus, idle: recorded } = await choosePin('auto', 2, cores(0, 1, 2, 3, 4), idle);
    expect({ method, cpus }).toEqual({ method: 'quietest', cpus: [1, 3] });
    expect(recorded.size).toBe(5);
  });

  test('a core that /proc/stat does not show is no candidate; without any there is an error', async () => {
    expect((await choosePin('auto', 1, cores(0, 1, 2), shares([2, 0.1]))).cpus).toEqual([2]);
    await expect(choosePin('auto', 1, cores(0, 1), shares())).rejects.toBeInstanceOf(SessionError);
  });

  test('the same as the slow twin, on machines drawn at random', async () => {
    let state = 11;
    const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;
    for (let run = 0; run < 500; run++) {
      const n = 2 + random(10);
      const threads = 1 + random(2);
      const all: Core[] = Array.from({ length: n }, (_, cpu) => ({
        cpu,
        ...(random(4) > 0
          ? {
              siblings: Array.from({ length: threads }, (_unused, at) => cpu - (cpu % threads) + at).filter(
                (one) => one < n,
              ),
            }
          : {}),
        ...(random(3) === 0 ? { capacity: 512 * (1 + random(2)) } : {}),
      }));
      const idle = new Map(all.map((core) => [core.cpu, random(4) / 3]));
      const count = 1 + random(n - 1);
      const { cpus } = await choosePin('auto', count, all, async () => idle);
      expect(cpus).toEqual(slowQuietest(all, idle, count));
    }
  });
});

const stat = (...rows: number[][]): string =>
  `cpu  1 2 3 4 5 6 7 8 9 10\n${rows.map((row, cpu) => `cpu${cpu} ${row.join(' ')}`).join('\n')}\nintr 1\n`;
const shareOf = (before: number[], after: number[]): number | undefined =>
  idleShares(stat(before), stat(after)).get(0);

describe('idle shares', () => {
  const CASES: [string, number[], number[], number][] = [
    ['idle and iowait count', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [20, 0, 0, 60, 20, 0, 0, 0, 0, 0], 0.8],
    ['steal is not idle', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 50, 0, 0, 0, 50, 0, 0], 0.5],
    ['guest time is counted once', [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [50, 0, 0, 50, 0, 0, 0, 0, 50, 0], 0.5],
    ['no tick passed: busy', [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 0],
    ['iowait may go backwards', [0, 0, 0, 10, 10, 0, 0, 0, 0, 0], [100, 0, 0, 10, 5, 0, 0, 0, 0, 0], 0],
    ['an old kernel has fewer columns', [0, 0, 0, 0, 0, 0, 0], [25, 0, 0, 75, 0, 0, 0], 0.75],
  ];
  for (const [name, before, after, share] of CASES)
    test(name, () => expect(shareOf(before, after)).toBeCloseTo(share, 12));

  test('a core that came online meanwhile counts as busy', () => {
    expect(idleShares('cpu0 0 0 0 0\n', 'cpu0 0 0 0 9\ncpu1 0 0 0 9\n')).toEqual(
      new Map([
        [0, 1],
        [1, 0],
      ]),
    );
  });
});
