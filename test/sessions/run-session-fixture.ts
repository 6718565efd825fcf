/** Run directories made by hand, and a pod program whose every line and fault is chosen: for what the real one can't be made to do. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompactPlan } from '../../schemas/plan.ts';
import { sha256 } from '../../shared/files.ts';
import { jsonText } from '../../shared/read.ts';
import { sequenceOf } from '../../shared/sequence.ts';
import type { Sink, World } from '../../shared/world.ts';

export const NOW = Date.parse('2026-01-02T03:04:05.000Z');

/** A compact plan of two targets at one size. */
export const compactPlan = (run: string, rounds = 3): CompactPlan => ({
  format: 'compact-plan/1',
  run,
  mode: 'compare',
  profile: {
    name: 'pair',
    rule: 'pair',
    about: 'two commands',
    fingerprints: {},
    targets: [
      { name: 'new', role: 'candidate', command: ['true'] },
      { name: 'old', role: 'reference', command: ['true'] },
    ],
    metrics: [],
    repeat: 3,
  },
  turns: [3],
  rounds,
  warmupRounds: 0,
  order: 'rotate',
  orderSeed: 0,
  pin: 'none',
  cpus: 1,
  allowFrequencyScaling: true,
  delivery: 'local',
  limits: { step_s: 60, session_s: 600, stdout_bytes: 1 << 20 },
});

export interface Planned {
  rounds?: number;
  host?: string;
  cwd?: string;
  parent?: string;
  children?: string[];
  delivery?: 'image' | 'local';
  session_s?: number;
  programs?: Record<string, string>;
}

/** Writes run.json, plan.json, profile.json and values.json, as `plan` would; children too. Returns the directory. */
export const planByHand = (out: string, name: string, options: Planned = {}): string => {
  const dir = join(out, name);
  mkdirSync(dir, { recursive: true });
  const { rounds = 3, children, ...about } = options;
  const compact = compactPlan(name, rounds);
  const files = {
    'plan.json': jsonText({
      format: 'plan/1',
      compactSha256: sha256(JSON.stringify(compact)),
      compact,
      steps: sequenceOf(compact),
    }),
    'profile.json': jsonText(compact.profile),
    'values.json': jsonText({ cpus: 1 }),
  };
  for (const [file, content] of Object.entries(files)) writeFileSync(join(dir, file), content);
  const digests = Object.fromEntries(Object.entries(files).map(([file, content]) => [file, sha256(content)]));
  writeFileSync(
    join(dir, 'run.json'),
    jsonText({
      format: 'run/1',
      run: name,
      mode: 'compare',
      planned_at: '2026-01-02T03:04:05.000Z',
      delivery: 'local',
      ...about,
      ...(children ? { children, sessions: children.length } : {}),
      profile: 'pair',
      rule: 'pair',
      turns: [3],
      rounds,
      gate: 'auto',
      maxCv: 0.05,
      files: digests,
      inputsSha256: sha256(name),
    }),
  );
  for (const child of children ?? []) planByHand(dir, child, { rounds, parent: name });
  return dir;
};

/** What the pod program does instead of going well; see {@link podProgram}. */
export type Fault =
  | 'error'
  | 'invalid'
  | 'bad-plan'
  | 'crash'
  | 'no-end'
  | 'altered'
  | 'deaf'
  | 'child-stays'
  | 'hang'
  | 'foreign';

/** Command line of the pod program with one fault and a pause (ms) before each sample. */
export const podProgram = (fault?: Fault, pause = 0): string[] => [
  process.execPath,
  join(import.meta.dir, 'run-session-pod.ts'),
  fault ?? 'none',
  String(pause),
];

export interface Outside extends World {
  out: () => string;
  err: () => string;
  interrupt: (reason?: string) => void;
}

const memory = (isTerminal: boolean): Sink & { text: string } => ({
  text: '',
  async write(part) {
    this.text += typeof part === 'string' ? part : new TextDecoder().decode(part);
  },
  closed: false,
  isTerminal,
  columns: 80,
});

/** An outside held in memory: fixed clock, collected output, and the pod program given. */
export const outside = (
  pod: string[],
  options: { cwd?: string; env?: Record<string, string>; terminal?: boolean; stdin?: string } = {},
): Outside => {
  const [stdout, stderr] = [memory(false), memory(options.terminal ?? false)];
  const controller = new AbortController();
  return {
    cwd: options.cwd ?? process.cwd(),
    env: options.env ?? { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'] },
    host: 'here',
    now: () => NOW,
    random: (bytes) => new Uint8Array(bytes),
    stdin: (async function* () {
      yield new TextEncoder().encode(options.stdin ?? '');
    })(),
    stdout,
    stderr,
    interrupted: controller.signal,
    program: () => pod,
    out: () => stdout.text,
    err: () => stderr.text,
    interrupt: (reason = 'SIGTERM') => controller.abort(reason),
  };
};

/** Processes with exactly this command line, words joined by blanks. */
export const running = (command: string | RegExp): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1).join(' ');
        return typeof command === 'string' ? words === command : command.test(words);
      } catch {
        return false;
      }
    })
    .map(Number);
