/** A process tree on described machines, and on this one against what a process says of itself. */
import { describe, expect, test } from 'bun:test';
import { MARKER, PROC, type Proc, ProcessTree } from '../lib/agent/tree.ts';

interface Described {
  parent?: number;
  state?: string;
  environ?: string;
  /** User and system time, ticks. */
  ticks?: [number, number];
  /** Thread → CPU time, ns. */
  threads?: Record<string, number>;
  status?: Record<string, number>;
  rollup?: Record<string, number>;
}

const kibs = (fields: Record<string, number> = {}): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}:\t${value} kB\n`)
    .join('');

/** A /proc of processes that a test can change. */
const described = (processes: Record<number, Described>): Proc => {
  const files = (): Map<string, string> =>
    new Map(
      Object.entries(processes).flatMap(([pid, one]) => [
        [
          `/proc/${pid}/stat`,
          `${pid} (a) b)) ${one.state ?? 'S'} ${one.parent ?? 1} ${pid} ${pid} 0 -1 0 0 0 0 0 ${(one.ticks ?? [0, 0]).join(' ')} 0 0`,
        ] as const,
        [`/proc/${pid}/environ`, one.environ ?? 'X=1\0'] as const,
        [`/proc/${pid}/comm`, 'name\n'] as const,
        [`/proc/${pid}/status`, kibs(one.status)] as const,
        [`/proc/${pid}/smaps_rollup`, kibs(one.rollup)] as const,
        ...Object.entries(one.threads ?? {}).map(
          ([thread, ns]) => [`/proc/${pid}/task/${thread}/schedstat`, `${ns} 5 6\n`] as const,
        ),
      ]),
    );
  return {
    read: (path) => files().get(path),
    list: (path) =>
      path === '/proc'
        ? [...Object.keys(processes), 'self', 'stat']
        : [...files().keys()]
            .filter((one) => one.startsWith(`${path}/`) && one.endsWith('/schedstat'))
            .map((one) => one.slice(path.length + 1).split('/')[0]!),
  };
};

describe('who belongs to it', () => {
  test.each<[string, Record<number, Described>, number[]]>([
    ['the root alone', { 10: {}, 20: {} }, [10]],
    ['children and theirs', { 10: {}, 11: { parent: 10 }, 12: { parent: 11 }, 20: {} }, [10, 11, 12]],
    ['a child that stands before its parent', { 10: {}, 5: { parent: 6 }, 6: { parent: 10 } }, [5, 6, 10]],
    [
      'whoever carries the mark, whatever its parent',
      { 10: {}, 30: { environ: `A=1\0${MARKER}=m\0` } },
      [10, 30],
    ],
    ['no one with the mark of another', { 10: {}, 30: { environ: `${MARKER}=mm\0` } }, [10]],
  ])('%s', (_, processes, wanted) => {
    const tree = new ProcessTree(10, 'm', [], described(processes));
    tree.scan();
    expect(tree.live.toSorted((a, b) => a - b)).toEqual(wanted);
  });

  test('a helper is no part of it, what it starts is', () => {
    const processes = { 10: { environ: `${MARKER}=m\0` }, 11: { parent: 10, environ: `${MARKER}=m\0` } };
    const tree = new ProcessTree(10, 'm', [10], described(processes));
    tree.scan();
    expect(tree.live).toEqual([11]);
  });

  test('those that were there before are not looked at', () => {
    const processes: Record<number, Described> = {
      7: { environ: `${MARKER}=m\0` },
      10: {},
      11: { parent: 10 },
    };
    const tree = new ProcessTree(10, 'm', [], described(processes), ['7', 'self']);
    tree.scan();
    expect(tree.live).toEqual([10, 11]);
    // Its number is another's now.
    delete processes[7];
    tree.scan();
    processes[7] = { parent: 10 };
    tree.scan();
    expect(tree.live).toContain(7);
  });

  test('what has no environment yet is looked at again', () => {
    const processes: Record<number, Described> = { 10: {}, 30: { environ: '' } };
    const tree = new ProcessTree(10, 'm', [], described(processes));
    tree.scan();
    expect(tree.live).toEqual([10]);
    processes[30]!.environ = `${MARKER}=m\0`;
    tree.scan();
    expect(tree.live).toEqual([10, 30]);
  });

  test('one that was seen stays when its parent goes, and goes when it ends', () => {
    const processes: Record<number, Described> = { 10: {}, 11: { parent: 10 }, 12: { parent: 11 } };
    const tree = new ProcessTree(10, 'm', [], described(processes));
    tree.scan();
    delete processes[11];
    processes[12]!.parent = 1;
    tree.scan();
    expect([tree.live, tree.seen]).toEqual([[10, 12], 3]);
    processes[12]!.state = 'Z';
    expect(tree.alive()).toEqual([10]);
  });
});

describe('what it used', () => {
  test('threads are added up, and stay when they or their processes end', () => {
    const processes: Record<number, Described> = {
      10: { threads: { 10: 2e6, 11: 3e6 } },
      20: { parent: 10, threads: { 20: 4e6 } },
      99: { threads: { 99: 1e9 } },
    };
    const tree = new ProcessTree(10, 'm', [], described(processes));
    tree.look();
    expect(tree.cpu()).toBe(9);
    processes[10]!.threads = { 10: 5e6 };
    delete processes[20];
    tree.look();
    expect(tree.cpu()).toBe(12);
  });

  test('threads that nobody met are told by the process, in ticks, and once', () => {
    const processes: Record<number, Described> = { 10: { threads: { 10: 8e6 }, ticks: [0, 0] } };
    const tree = new ProcessTree(10, 'm', [], described(processes));
    expect(tree.cpu()).toBe(8);
    // A thread of 30 ms came and went.
    processes[10] = { threads: { 10: 9e6 }, ticks: [2, 1] };
    expect(tree.cpu()).toBe(30);
    processes[10] = { threads: { 10: 14e6 }, ticks: [2, 1] };
    expect(tree.cpu()).toBe(35);
    delete processes[10];
    tree.look();
    expect(tree.cpu()).toBe(35);
  });

  test('what nobody tells is not nothing', () => {
    const tree = new ProcessTree(10, 'm', [], described({ 10: {} }));
    expect(tree.shares()).toBeUndefined();
  });

  test('memory: sums of those that live, and the largest sum of peaks', () => {
    const processes: Record<number, Described> = {
      10: { status: { VmRSS: 1024, VmHWM: 2048 }, rollup: { Rss: 1024, Pss: 512, Anonymous: 256 } },
      11: {
        parent: 10,
        status: { VmRSS: 1024, VmHWM: 1024 },
        rollup: { Rss: 1024, Pss: 512, Anonymous: 256 },
      },
    };
    const tree = new ProcessTree(10, 'm', [], described(processes));
    tree.look();
    expect([tree.memory(), tree.shares()]).toEqual([
      { rss: 2, peak: 3 },
      { rss: 2, pss: 1, anonymous: 0.5 },
    ]);
    delete processes[11];
    tree.look();
    expect(tree.memory()).toEqual({ rss: 1, peak: 3 });
  });
});

test('here: as much CPU time as a process says that it used itself, its threads included', async () => {
  const work =
    'const t = process.cpuUsage(); let x = 0; while (process.cpuUsage(t).user < 200000) x += Math.sqrt(x); const u = process.cpuUsage(); console.log((u.user + u.system) / 1000); setInterval(() => undefined, 1000);';
  const child = Bun.spawn([process.execPath, '-e', work], { stdout: 'pipe' });
  const tree = new ProcessTree(child.pid, 'here', [], PROC);
  const { value } = await child.stdout.getReader().read();
  const said = Number(new TextDecoder().decode(value));
  tree.look();
  const seen = tree.cpu();
  child.kill('SIGKILL');
  await child.exited;
  expect(said).toBeGreaterThanOrEqual(200);
  // It went on a little after it said so; threads that ended before were not met.
  expect(seen / said).toBeGreaterThan(0.8);
  expect(seen / said).toBeLessThan(1.5);
});
