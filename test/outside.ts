/** The outside world held in memory, for tests of tools: fixed clock, no terminal, everything printed is kept. */
import type { Exit } from '../shared/exit.ts';
import type { Sink, World } from '../shared/world.ts';

export interface Outside {
  cwd?: string;
  env?: Record<string, string | undefined>;
  host?: string;
  stdin?: string | Uint8Array;
  /** ms since the epoch. */
  now?: number;
  interrupted?: AbortSignal;
  /** The command line of one of our programs as a process of its own; a test that starts one says how. */
  program?: (tool: string) => string[];
  /** stderr is a terminal of so many cells. */
  columns?: number;
}

export const NOW = Date.parse('2026-01-02T03:04:05.678Z');

const sink = (parts: string[], columns?: number): Sink => ({
  write: async (part) => void parts.push(typeof part === 'string' ? part : new TextDecoder().decode(part)),
  closed: false,
  isTerminal: columns !== undefined,
  columns: columns ?? 80,
});

/** Runs a tool's main in such a world: its exit status and what it printed. */
export const runTool = async (
  main: (args: readonly string[], world: World) => Promise<Exit>,
  args: readonly string[],
  outside: Outside = {},
): Promise<{ exit: Exit; stdout: string; stderr: string }> => {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const exit = await main(args, {
    cwd: outside.cwd ?? '/nowhere',
    env: outside.env ?? {},
    host: outside.host ?? 'here',
    now: () => outside.now ?? NOW,
    random: (bytes) => new Uint8Array(bytes),
    stdin: (async function* () {
      const { stdin = '' } = outside;
      yield typeof stdin === 'string' ? new TextEncoder().encode(stdin) : stdin;
    })(),
    stdout: sink(stdout),
    stderr: sink(stderr, outside.columns),
    interrupted: outside.interrupted ?? new AbortController().signal,
    program: outside.program ?? ((tool) => ['false', tool]),
  });
  return { exit, stdout: stdout.join(''), stderr: stderr.join('') };
};
