/** Session logs of hundreds of megabytes, as a session writes them: made anew for each run of the benchmark. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';

/**
 * What fills a log: short samples (ten turns, so lines of readings are half of it), or samples of 3,500 turns whose times
 * have all their digits (17), or four decimals as the built-in workloads write them.
 */
export const KINDS = ['10-turn', 'full-digit', '4-decimal'] as const;
export type Kind = (typeof KINDS)[number];

const TURNS: Readonly<Record<Kind, number>> = { '10-turn': 10, 'full-digit': 3500, '4-decimal': 3500 };

/** Samples that differ, of each target; after these they come again. */
const DISTINCT = 100;

/** Sizes of the two targets' turns, ms. */
const TARGETS = { candidate: 10, reference: 11 } as const;

const MACHINE = {
  gomaxprocs: 2,
  cpuModel: 'AMD EPYC',
  cpuFeatures: 'avx avx2 avx512f avx512bw avx512cd avx512dq avx512vl avx512vbmi gfni bmi2 popcnt',
};

/** A small generator with a known beginning: the same log each time. */
const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
};

/** Around the pace, with a tail to the right, and now and then one that took twenty times as long. */
const turnsOf = (pace: number, count: number, random: () => number): number[] =>
  Array.from(
    { length: count },
    () => pace * (0.7 + 0.3 * random() - 0.2 * Math.log(1 - random())) * (random() < 0.002 ? 20 : 1),
  );

const written = (times: readonly number[], kind: Kind, decimals: number): string =>
  `[${times.map((one) => (kind === 'full-digit' ? String(one) : String(Number(one.toFixed(decimals))))).join(',')}]`;

/** The end of a sample line, from `open` on. */
const sampleEnd = (pace: number, kind: Kind, random: () => number): string => {
  const turns = turnsOf(pace, TURNS[kind], random);
  const cpu = turns.map((one) => one * 0.8);
  const more = { bytes: 152594, peakRss: 54.8281, retained: 1.3552, fingerprint: '2f84d6d1f260cfd7' };
  return `"open":0.2751,"turn":${written(turns, kind, 4)},"openCpu":0.28,"turnCpu":${written(cpu, kind, 3)},${JSON.stringify({ ...more, ...MACHINE }).slice(1)}`;
};

const readings = (pace: number, random: () => number): string =>
  JSON.stringify({
    wallMs: Math.round(pace * 40e6 * (1 + 0.01 * random())) / 1e6,
    usageUsec: Math.round(pace * 30e6 * (1 + 0.01 * random())) / 1e3,
    nrPeriods: 0,
    nrThrottled: 0,
    throttledUsec: 0,
    harnessUsec: 3582,
    stealUsec: 0,
    psiCpuSomeUsec: Math.round(1e5 * random()),
    psiCpuFullUsec: 0,
    psiMemorySomeUsec: 0,
    psiMemoryFullUsec: 0,
    psiIoSomeUsec: Math.round(1e4 * random()),
    psiIoFullUsec: 135,
    ioReadBytes: 0,
    ioWriteBytes: 0,
    settleMs: 0.028,
    dirtyBytes: Math.round(1e6 * random()),
    probeUsec: Math.round(42e3 + 100 * random()) / 1e3,
  }).slice(1);

const factsOf = (kind: Kind, size: number, rounds: number): Record<string, unknown> => ({
  run: `k8sbench-cmp-${kind}`,
  mode: 'compare',
  profile: kind,
  rule: kind,
  profileSpec: {
    name: kind,
    rule: kind,
    about: '',
    fingerprints: {},
    targets: Object.keys(TARGETS).map((name) => ({ name, role: name, seed: [name], sample: [name] })),
  },
  targets: Object.keys(TARGETS),
  turns: [size],
  rounds,
  node: 'node-a',
  pod: '',
  commit: '',
  kernel: '6.18.0',
  ...MACHINE,
  cpusOnline: '0-1',
  cpusAllowed: '0-1',
  requestedCpus: 2,
  cpuSet: 'exclusive',
  cgroup: 'v2',
  cpuMax: 'max 100000',
  memoryMax: 'max',
  cpuStat: {},
  loadavg: '0.00 0.00 0.00',
  delivery: 'local',
  image: '',
  bundleSha256: '',
  nodeRuntime: 'v24.0.0',
  versions: {},
  artifacts: {},
  at: '2026-01-02T03:04:05.000Z',
});

/** An object without its opening brace. */
const object = (fields: Record<string, unknown>): string => JSON.stringify(fields).slice(1);

/** Writes a whole log of about so many bytes, and tells its lines. */
const writeLargeLog = (path: string, kind: Kind, bytes: number): number => {
  const random = randomFrom(KINDS.indexOf(kind) + 1);
  const size = TURNS[kind];
  const ends = Object.values(TARGETS).map((pace) =>
    Array.from({ length: DISTINCT }, () => ({
      cpu: readings(pace, random),
      sample: sampleEnd(pace, kind, random),
    })),
  );
  const pair = ends.flat().reduce((sum, one) => sum + one.cpu.length + one.sample.length + 150, 0);
  const rounds = Math.max(3, Math.round(bytes / (pair / DISTINCT)));
  const hash = createHash('sha256');
  const fd = openSync(path, 'w');
  let text = '';
  let seq = 0;
  const flush = (): void => {
    const block = Buffer.from(text, 'latin1');
    hash.update(block);
    for (let at = 0; at < block.length;) at += writeSync(fd, block, at);
    text = '';
  };
  const put = (t: string, rest: string): void => {
    text += `{"t":"${t}","seq":${seq++},${rest}\n`;
    if (text.length > 1 << 20) flush();
  };
  put('facts', object(factsOf(kind, size, rounds)));
  put(
    'pin',
    object({ idle: {}, method: 'all-allowed', cpus: '0-1', gomaxprocs: 2, governors: {}, fixedClock: true }),
  );
  for (const target of Object.keys(TARGETS)) {
    put('cpu', object({ step: 'seed', target, turns: size, wallMs: 900, usageUsec: 800_000 }));
    put('seed', object({ target, turns: size, fingerprint: 'ab', seedMs: 900, from: 'empty', ...MACHINE }));
  }
  for (let round = 0; round < rounds; round++)
    for (const [which, target] of Object.keys(TARGETS).entries()) {
      const { cpu, sample } = ends[which]![round % DISTINCT]!;
      const about = `"target":"${target}","turns":${size},"sample":${round},`;
      put('cpu', `"step":"sample",${about}${cpu}`);
      put('sample', about + sample);
    }
  put('done', object({ seeds: 2, samples: 2 * rounds, at: '2026-01-02T04:04:05.000Z' }));
  flush();
  const end = `${JSON.stringify({ t: 'end', seq, lines: seq, sha256: hash.digest('hex') })}\n`;
  writeSync(fd, end);
  closeSync(fd);
  return seq + 1;
};

if (import.meta.main) {
  const [path, kind, bytes] = process.argv.slice(2);
  writeLargeLog(path!, kind as Kind, Number(bytes));
}
