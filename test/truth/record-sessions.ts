#!/usr/bin/env bun
/**
 * Measures sessions on this machine and appends them to recorded-sessions.jsonl:
 *
 *   record-sessions.ts aa durable-store|runtimes COUNT      the reference against itself
 *   record-sessions.ts slower COUNT                         runtimes against itself with a loop of 3 % of a turn's CPU time
 *                                                           in each turn, planned by --for-effect 3% --margin 1% from an A/A
 *                                                           session
 *
 * Every session is planned, measured and read by the tools themselves, with fixtures of its own. ^C stops after the session
 * in flight; what was appended stays.
 */
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Cpu, Sample } from '../../schemas/log.ts';
import { median } from '../../shared/statistics.ts';
import { RECORDED, type Recorded } from './recorded.ts';

const root = resolve(import.meta.dir, '../..');
const EFFECT = 0.03;
const SLOW_MARGIN = 0.01;
/** Rounds of the session whose noise the slow ones are planned from. */
const PLANNED_FROM = 40;
const SIZES: Readonly<Record<string, number>> = { 'durable-store': 50, runtimes: 500 };

type Target = Record<string, unknown> & { name: string; role: string; seed?: string[]; sample: string[] };

/** The built-in profile with its reference against itself, or against a copy of its program under another name. */
const profileOf = (workload: string, instead?: { program: string; by: string }): object => {
  const profile = JSON.parse(readFileSync(join(root, 'shared/profiles', `${workload}.json`), 'utf8'));
  const reference = (profile.targets as Target[]).find((one) => one.role === 'reference')!;
  // The store's programs are TypeScript, which not every Node on a PATH runs.
  const runtime = workload === 'durable-store' ? 'bun' : 'node';
  const started = (words: readonly string[] = [], replace?: typeof instead): string[] => [
    runtime,
    ...words.slice(1).map((word) => (replace ? word.replace(replace.program, replace.by) : word)),
  ];
  const target = (name: string, role: string, replace?: typeof instead): Target => ({
    ...reference,
    name,
    role,
    seed: started(reference.seed),
    sample: started(reference.sample, replace),
  });
  return {
    ...profile,
    primary: ['cpuWarm'],
    targets: [target('candidate', 'candidate', instead), target('reference', 'reference')],
  };
};

/** A copy of the workloads. */
const bundleIn = (place: string): string => {
  const bundle = join(place, 'bundle');
  cpSync(join(root, 'shared/workloads/lib'), join(bundle, 'lib'), { recursive: true });
  return bundle;
};

/** So many iterations are work for some ms; a time by the clock would not be, where others use the machine. */
const SPIN = `export const spin = (count) => {
  let state = count | 0;
  for (let at = 0; at < count; at++) state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return state;
};
`;
const CALIBRATION = `import { spin } from './spin.mjs';
const COUNT = 5_000_000;
const rates = Array.from({ length: 41 }, () => {
  const before = process.cpuUsage();
  globalThis.kept = spin(COUNT);
  return (COUNT * 1000) / process.cpuUsage(before).user;
});
console.log(rates.slice(10).sort((a, b) => a - b)[15]);
`;

/** Puts `runtimes-slow.mjs` into the bundle: the same program with a loop in each turn that takes EFFECT of its CPU time, ms. */
const slowedIn = (bundle: string, turnCpuMs: number): void => {
  const program = readFileSync(join(bundle, 'lib/runtimes.mjs'), 'utf8');
  const turn = 'timed(() => turn(at))';
  if (program.split(turn).length !== 2) throw new Error(`runtimes.mjs: expected '${turn}' once`);
  writeFileSync(join(bundle, 'lib/spin.mjs'), SPIN);
  writeFileSync(join(bundle, 'lib/calibrate.mjs'), CALIBRATION);
  const done = Bun.spawnSync(['node', join(bundle, 'lib/calibrate.mjs')]);
  const perMs = Number(done.stdout.toString());
  if (!(perMs > 0)) throw new Error(`no rate: ${done.stderr.toString()}`);
  const count = Math.round(EFFECT * turnCpuMs * perMs);
  console.error(`a turn takes ${turnCpuMs} ms of CPU time; ${count} iterations are ${100 * EFFECT} % of it`);
  const spinning = `timed(() => {
    const result = turn(at);
    globalThis.kept = spin(${count});
    return result;
  })`;
  writeFileSync(
    join(bundle, 'lib/runtimes-slow.mjs'),
    `import { spin } from './spin.mjs';\n${program.replace(turn, spinning)}`,
  );
};

/** Runs `k8sbench compare` and gives the run's directory; 3 is a refusal by noise, and the session counts all the same. */
const compared = (place: string, flags: readonly string[]): string => {
  const done = Bun.spawnSync(
    [
      process.execPath,
      join(root, 'tools/k8sbench/main.ts'),
      'compare',
      '--local',
      '--allow-frequency-scaling',
      '--max-cv',
      '9',
      ...flags,
    ],
    { cwd: place, env: { ...process.env, NO_COLOR: '1' }, stdin: 'ignore' },
  );
  const line = done.stdout.toString().split('\n')[0]!;
  if (done.exitCode !== 0 || line === '') throw new Error(done.stderr.toString());
  return join(place, 'out', (JSON.parse(line) as { run: string }).run);
};

const digits = (value: number | null | undefined): number | null =>
  typeof value === 'number' ? Number(value.toPrecision(4)) : null;

/** A session's samples with their readings, by target and round. */
const recordedOf = (run: string, about: Omit<Recorded, 'format' | 'values' | 'readings'>): Recorded => {
  const lines = readFileSync(join(run, 'pod.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const two = (read: (sample: Sample, cpu: Cpu) => number | null | undefined) =>
    ['candidate', 'reference'].map((target) =>
      lines.flatMap((line, at) =>
        line['t'] === 'sample' && line['target'] === target
          ? [digits(read(line as unknown as Sample, lines[at - 1] as unknown as Cpu))]
          : [],
      ),
    ) as unknown as Recorded['values']['warm'];
  const usec = (field: string) =>
    two((_, cpu) => (typeof cpu[field] === 'number' ? cpu[field] / 1000 : null));
  return {
    format: 'recorded/1',
    ...about,
    values: {
      warm: two(({ turn }) => median(turn.slice(1))),
      cpuWarm: two(({ turnCpu }) => (turnCpu ? median(turnCpu.slice(1)) : null)),
    },
    // Their doubts are asked of the others: these are long.
    readings:
      about.kind === 'slower'
        ? {}
        : {
            wallMs: two((_, cpu) => cpu.wallMs),
            throttledMs: usec('throttledUsec'),
            stealMs: usec('stealUsec'),
            speedMs: usec('probeUsec'),
          },
  };
};

const [kind, ...words] = process.argv.slice(2);
const workload = kind === 'slower' ? 'runtimes' : (words.shift() ?? '');
const count = Number(words[0]);
if (!['aa', 'slower'].includes(kind ?? '') || !(workload in SIZES) || !(count >= 1)) {
  console.error('usage: record-sessions.ts aa durable-store|runtimes COUNT, or slower COUNT');
  process.exit(2);
}
const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());

const place = mkdtempSync(join(tmpdir(), 'k8sbench-recorded-'));
try {
  mkdirSync(join(place, 'out'));
  const bundle = bundleIn(place);
  const turns = SIZES[workload]!;
  const flags = ['--bundle', bundle, '--turns', String(turns)];
  const written = (name: string, profile: object): string[] => {
    writeFileSync(join(place, `${name}.json`), JSON.stringify(profile));
    return ['--profile', `${name}.json`, ...flags];
  };
  const same = written('aa', profileOf(workload));
  let about: Omit<Recorded, 'format' | 'values' | 'readings'> = {
    kind: 'aa',
    workload,
    turns,
    effect: 0,
    margin: 0.03,
  };
  let asked = [...same, '--rounds', '12'];
  if (kind === 'slower') {
    const from = compared(place, [...same, '--rounds', String(PLANNED_FROM)]);
    const { values } = recordedOf(from, about);
    slowedIn(bundle, median(values.cpuWarm.flat().filter((one) => one !== null)));
    const slow = written('slower', profileOf(workload, { program: 'runtimes.mjs', by: 'runtimes-slow.mjs' }));
    asked = [...slow, '--margin', String(SLOW_MARGIN), '--for-effect', String(EFFECT), '--from', from];
    about = { ...about, kind: 'slower', effect: EFFECT, margin: SLOW_MARGIN };
  }
  for (let at = 0; at < count && !stopping.signal.aborted; at++) {
    const run = compared(place, asked);
    appendFileSync(RECORDED, `${JSON.stringify(recordedOf(run, about))}\n`);
    rmSync(run, { recursive: true });
    console.error(`${kind} ${workload}: ${at + 1} of ${count}`);
    // A signal is only heard between sessions: one is waited for without a break.
    await Bun.sleep(1);
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
