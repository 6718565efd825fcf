/** Run directories that the tools themselves made, on a fixed clock and from made logs; put back as they were after each input. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tool as analyze } from '../../tools/analyze/main.ts';
import { tool as plan } from '../../tools/plan/main.ts';
import { tool as runSession } from '../../tools/run-session/main.ts';
import { tool as tracker } from '../../tools/tracker/main.ts';
import { madeLog } from '../made-log.ts';
import { type Outside, runTool } from '../outside.ts';

/** A directory in memory where the machine has one: fsync costs nothing there. */
export const scratchDirectory = (name: string): string => {
  for (const base of ['/dev/shm', tmpdir()])
    try {
      return mkdtempSync(join(base, `k8sbench-${name}-`));
    } catch {
      // Not writable; the next one is.
    }
  throw new Error('no directory for temporary files');
};

/** Every file below a directory with its content; directories end in a slash. */
export const contentOf = (dir: string): Map<string, Buffer> => {
  const all = new Map<string, Buffer>();
  for (const name of (readdirSync(dir, { recursive: true }) as string[]).toSorted()) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) all.set(`${name}/`, Buffer.alloc(0));
    else all.set(name, readFileSync(path));
  }
  return all;
};

export const putBack = (dir: string, content: ReadonlyMap<string, Buffer>): void => {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const [name, bytes] of content) {
    if (name.endsWith('/')) mkdirSync(join(dir, name), { recursive: true });
    else {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), bytes);
    }
  }
};

/** Names of the runs in a bed. */
export const RUNS = {
  /** A comparison, planned. */
  planned: 'cmp-planned',
  /** Measured, not analyzed. */
  measured: 'cmp-measured',
  /** Analyzed, with a line in track.jsonl. */
  judged: 'cmp-judged',
  /** Two sessions, measured and analyzed. */
  several: 'cmp-several',
  calibration: 'cal-judged',
} as const;

const TARGETS = [
  { name: 'new', role: 'candidate' as const },
  { name: 'old', role: 'reference' as const },
];
const PROFILE = {
  name: 'pair',
  rule: 'pair',
  about: 'two commands',
  targets: TARGETS.map((one) => ({ ...one, command: ['true'] })),
  repeat: 50,
};

export interface Bed {
  /** The directory that holds the run directories' `out`. */
  dir: string;
  content: ReadonlyMap<string, Buffer>;
  outside(more?: Outside): Outside;
  reset(): void;
  remove(): void;
}

/** Makes all runs of {@link RUNS} below `<dir>/out`, and a file `<run>.log` for each session. */
export const makeBed = async (name: string): Promise<Bed> => {
  const dir = scratchDirectory(name);
  const logs: string[] = [];
  const outside = (more: Outside = {}): Outside => ({
    cwd: dir,
    // No git on the PATH: a machine without it has no commit to tell, and starts no process for each input.
    env: { PATH: join(dir, 'bin'), TMPDIR: join(dir, 'tmp'), HOME: dir },
    program: () => ['/bin/cat', logs.shift() ?? join(dir, `${RUNS.planned}.log`)],
    ...more,
  });
  mkdirSync(join(dir, 'bin'));
  mkdirSync(join(dir, 'tmp'));
  for (const program of ['true', 'taskset'])
    writeFileSync(join(dir, 'bin', program), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(dir, 'profile.json'), JSON.stringify(PROFILE));
  const call = async (main: typeof plan.main, args: string[]): Promise<void> => {
    const { exit, stderr } = await runTool(main, args, outside());
    if (exit !== 0) throw new Error(`${args.join(' ')}: exit ${exit}: ${stderr}`);
  };
  for (const [kind, run] of Object.entries(RUNS)) {
    const mode = kind === 'calibration' ? 'calibrate' : 'compare';
    const path = join('out', run);
    const several = kind === 'several';
    await call(plan.main, [
      ...['--local', '--profile', 'profile.json', '--rounds', '12', '--mode', mode, '--run', path],
      ...['--allow-frequency-scaling', '--purpose', 'main', ...(several ? ['--sessions', '2'] : [])],
    ]);
    for (const session of several ? [`${run}-n1`, `${run}-n2`] : [run]) {
      const facts = { profile: 'pair', rule: 'pair', node: 'here' };
      const profile = { ...PROFILE };
      const log = madeLog({ run: session, mode, targets: TARGETS, turns: [50], rounds: 12, facts, profile });
      writeFileSync(join(dir, `${session}.log`), log);
      logs.push(join(dir, `${session}.log`));
    }
    if (kind === 'planned') {
      logs.length = 0;
      continue;
    }
    await call(runSession.main, ['--run', path]);
    if (kind === 'measured') continue;
    await call(analyze.main, ['--run', path]);
    if (kind !== 'calibration') await call(tracker.main, ['append', '--run', path]);
  }
  const content = contentOf(dir);
  return {
    dir,
    content,
    outside,
    reset: () => {
      logs.length = 0;
      putBack(dir, content);
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
};
