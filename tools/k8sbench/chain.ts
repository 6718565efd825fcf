/** Calls the steps of a pipeline in this process, each with what the one before printed. */
import { EXIT, type Exit } from '../../shared/exit.ts';
import { type Read, readWhole } from '../../shared/flags.ts';
import type { Talk } from '../../shared/talk.ts';
import type { Sink, World } from '../../shared/world.ts';
import type { Step } from './links.ts';

/** What to do when a comparison was not judged (exit 3). */
export type NotJudged = { what: 'fail' } | { what: 'pass' } | { what: 'retry'; times: number };

export const readNotJudged = (given: string): Read<NotJudged> => {
  if (given === 'fail' || given === 'pass') return { ok: true, value: { what: given } };
  const times = readWhole(/^retry=(.*)$/.exec(given)?.[1] ?? '', { min: 1, max: 100 });
  return times.ok
    ? { ok: true, value: { what: 'retry', times: times.value } }
    : { ok: false, expected: 'fail, pass, or retry=N with N from 1 to 100' };
};

const textOf = async function* (text: string) {
  yield new TextEncoder().encode(text);
};

/** The same outside with another output, and another standard input when one is given. */
const between = (world: World, stdout: Sink, stdin?: string): World => ({
  cwd: world.cwd,
  env: world.env,
  host: world.host,
  now: () => world.now(),
  random: (bytes) => world.random(bytes),
  get stdin() {
    return stdin === undefined ? world.stdin : textOf(stdin);
  },
  stdout,
  stderr: world.stderr,
  interrupted: world.interrupted,
  program: (tool) => world.program(tool),
});

const kept = (): Sink & { text(): string } => {
  const parts: string[] = [];
  return {
    write: async (part) => void parts.push(typeof part === 'string' ? part : new TextDecoder().decode(part)),
    closed: false,
    isTerminal: false,
    columns: 80,
    text: () => parts.join(''),
  };
};

export interface ChainEnd {
  exit: Exit;
  /** The run directory, as soon as a step named it. */
  run: string | undefined;
}

/** Until a step does not end with 0. The last step's output is the chain's. */
export const runChain = async (steps: readonly Step[], world: World): Promise<ChainEnd> => {
  let before = '';
  let run: string | undefined;
  for (const [at, { tool, args, takes }] of steps.entries()) {
    if (world.interrupted.aborted) return { exit: EXIT.interrupted, run };
    const output = kept();
    const last = at === steps.length - 1;
    const outside = between(world, last ? world.stdout : output, at === 0 ? undefined : before);
    const named = takes === 'run' ? [...args, '--run', run!] : args;
    const exit = await tool.main(named, outside);
    before = output.text();
    // Everything a step prints before the last is a path or, for the step that reads it, a whole file.
    if (!last && steps[at + 1]!.takes === 'run') run = before.trimEnd() || run;
    if (exit !== EXIT.done) return { exit, run };
  }
  return { exit: EXIT.done, run };
};

/** The chain, as often as `--not-judged` allows. */
export const runPipeline = async (
  steps: readonly Step[],
  notJudged: NotJudged,
  { world, talk }: { world: World; talk: Talk },
): Promise<Exit> => {
  const times = notJudged.what === 'retry' ? notJudged.times : 0;
  for (let attempt = 0; ; attempt++) {
    const { exit, run } = await runChain(steps, world);
    if (exit !== EXIT.notJudged) return exit;
    if (run !== undefined) talk.warn(`not judged; everything about it is in '${run}'`);
    if (attempt === times) return notJudged.what === 'pass' ? EXIT.done : exit;
    talk.info(`attempt ${attempt + 2} of ${times + 1}, with a run of its own`);
  }
};
