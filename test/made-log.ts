/** Session logs made to measure, for tests: whole and quiet unless a test asks for something else. */
import { createHash } from 'node:crypto';

export type Line = Record<string, unknown>;

export interface MadeTarget {
  name: string;
  role: 'candidate' | 'reference' | 'floor' | 'control';
  [more: string]: unknown;
}

export interface Made {
  run: string;
  mode: 'compare' | 'calibrate';
  targets: MadeTarget[];
  turns: number[];
  rounds: number;
  /** Changes to the profile, the facts, the pin line. */
  profile: Line;
  facts: Line;
  pin: Line;
  /** Changes to one sample line and to the cpu line before it; `null` leaves the line out. */
  sample(target: string, turns: number, round: number): Line | null;
  cpu(target: string, turns: number, round: number): Line | null;
  seed(target: string, turns: number): Line | null;
}

export const TARGETS: MadeTarget[] = [
  { name: 'journal', role: 'candidate' },
  { name: 'sqlite', role: 'reference' },
];

const machine = { gomaxprocs: 2, cpuModel: 'Synthetic CPU', cpuFeatures: 'avx avx2' };

/** The base time of a target's turn, ms: candidates are half as slow as references, floors a tenth. */
const PACE: Readonly<Record<MadeTarget['role'], number>> = {
  candidate: 10,
  reference: 20,
  control: 20,
  floor: 2,
};

/** The lines of a session, without `seq` and without `end`. */
export const sessionLines = (asked: Partial<Made> = {}): Line[] => {
  const {
    run = 'k8sbench-cmp-made',
    mode = 'compare',
    targets = TARGETS,
    turns = [50],
    rounds = 4,
    profile = {},
    facts = {},
    pin = {},
    sample = () => ({}),
    cpu = () => ({}),
    seed = () => ({}),
  } = asked;
  const measured = targets.filter((one) => mode === 'compare' || one.role === 'reference');
  const lines: Line[] = [
    {
      t: 'facts',
      run,
      mode,
      profile: 'store',
      rule: 'store',
      profileSpec: { name: 'store', rule: 'store', about: '', fingerprints: {}, targets, ...profile },
      targets: measured.map((one) => one.name),
      turns,
      rounds,
      node: 'node-a',
      pod: 'p',
      commit: '0123456789abcdef',
      kernel: '6.1.0',
      cpuModel: machine.cpuModel,
      cpuFeatures: machine.cpuFeatures,
      cpusOnline: '0-3',
      cpusAllowed: '0-1',
      requestedCpus: 2,
      cpuSet: 'exclusive',
      cgroup: 'v2',
      cpuMax: '200000 100000',
      memoryMax: '8589934592',
      cpuStat: {},
      loadavg: '0.1 0.1 0.1',
      delivery: 'local',
      image: '',
      bundleSha256: '',
      nodeRuntime: 'v24.0.0',
      versions: { node: 'v24.0.0' },
      artifacts: {},
      at: '2026-01-02T03:04:05.000Z',
      ...facts,
    },
    {
      t: 'pin',
      idle: {},
      method: 'all-allowed',
      cpus: '0-1',
      gomaxprocs: 2,
      governors: {},
      fixedClock: true,
      ...pin,
    },
  ];
  const throttling = { nrPeriods: 10, nrThrottled: 0, throttledUsec: 0 };
  for (const size of turns)
    for (const { name, role } of measured) {
      const change = role === 'floor' ? null : seed(name, size);
      if (change === null) continue;
      const about = { target: name, turns: size };
      lines.push({ t: 'cpu', step: 'seed', ...about, wallMs: 900, usageUsec: 800_000, ...throttling });
      lines.push({
        t: 'seed',
        ...about,
        fingerprint: `seed-${size}`,
        seedMs: 100 * PACE[role],
        bytes: 1000,
        from: 'empty',
        ...machine,
        ...change,
      });
    }
  let samples = 0;
  for (let round = 0; round < rounds; round++)
    for (const size of turns)
      for (const { name, role } of measured) {
        const about = { target: name, turns: size, sample: round };
        const around = cpu(name, size, round);
        const change = sample(name, size, round);
        // A wobble of one in a thousand: quiet, but not without noise.
        const pace = PACE[role] * (1 + ((round * 7) % 5) / 1000);
        if (around !== null)
          lines.push({
            t: 'cpu',
            step: 'sample',
            ...about,
            wallMs: 9 * pace,
            usageUsec: 6e3 * pace,

            ...throttling,
            ...around,
          });
        if (change === null) continue;
        samples++;
        lines.push({
          t: 'sample',
          ...about,
          open: pace / 2,
          turn: [2 * pace, pace, 0.9 * pace, 1.1 * pace],
          fingerprint: role === 'floor' ? undefined : `transcript-${size}`,
          ...machine,
          openCpu: pace / 4,
          turnCpu: [pace, pace / 2, pace / 2, pace / 2],
          peakRss: 100 * PACE[role],
          bytes: 1000,
          ...change,
        });
      }
  lines.push({
    t: 'done',
    seeds: lines.filter((one) => one['t'] === 'seed').length,
    samples,
    at: '2026-01-02T04:04:05.000Z',
  });
  return lines;
};

/** Lines numbered and closed by their end line, as a session prints them. */
export const sealed = (lines: readonly Line[]): string => {
  const hash = createHash('sha256');
  const text = lines.map(({ t, ...rest }, seq) => `${JSON.stringify({ t, seq, ...rest })}\n`);
  for (const one of text) hash.update(one);
  const end = { t: 'end', seq: text.length, lines: text.length, sha256: hash.digest('hex') };
  return `${text.join('')}${JSON.stringify(end)}\n`;
};

/** A whole log. */
export const madeLog = (asked: Partial<Made> = {}): string => sealed(sessionLines(asked));
