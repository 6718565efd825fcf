/** Calls the steps of a pipeline in this process, each with what the one before printed. */
import { EXIT, type Exit } from '../../shared/exit.ts';
import { type Read, readWhole } from '../../shared/flags.ts';
import type { Talk } from '../../shared/talk.ts';
import type { Sink, World } from '../../shared/world.ts';
import type { Step } from './links.ts';

/** What to do when what was measured could not be judged (exit 3): measure again, so often at most, and how that ends. */
export interface NotJudged {
  retries: number;
  end: 'fail' | 'pass';
}

export const readNotJudged = (given: string): Read<NotJudged> => {
  if (given === 'fail' || given === 'pass') return { ok: true, value: { retries: 0, end: given } };
  const [, written = '', passes] = /^retry=(.*?)(,pass)?$/.exec(given) ?? [];
  const times = readWhole(written, { min: 1, max: 100 });
  return times.ok
    ? { ok: true, value: { retries: times.value, end: passes === undefined ? 'fail' : 'pass' } }
    : { ok: false, expected: 'fail, pass, retry=N or retry=N,pass with N from 1 to 100' };
};

const textOf = async function* (text: string) {
  yield new TextEncoder().encode(text);
};

/** The same outside with other outputs, and another standard input when one is given. */
const between = (world: World, stdout: Sink, stderr: Sink, stdin?: string): World => ({
  cwd: world.cwd,
  env: world.env,
  host: world.host,
  now: () => world.now(),
  random: (bytes) => world.random(bytes),
  get stdin() {
    return stdin === undefined ? world.stdin : textOf(stdin);
  },
  stdout,
  stderr,
  interrupted: world.interrupted,
  program: (tool) => world.program(tool),
});

/** A sink whose errors, as tools tell them, are kept as well. */
const listening = (sink: Sink, errors: string[]): Sink => ({
  write(text) {
    if (typeof text === 'string')
      for (const [, error] of text.matchAll(/^[a-z0-9-]+: error: (.*)$/gm)) errors.push(error!);
    return sink.write(text);
  },
  get closed() {
    return sink.closed;
  },
  get isTerminal() {
    return sink.isTerminal;
  },
  get columns() {
    return sink.columns;
  },
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
  /** The step that ended it. */
  last: string;
  /** It was measured, and refused for its noise. */
  refused: boolean;
  /** What the steps told as errors. */
  errors: readonly string[];
}

/**
 * Until a step does not end with 0; a bad judgement (4) ends nothing, what was judged is recorded all the same. The chain
 * prints what its last step prints, apart from those whose output is talk.
 */
const runChain = async (steps: readonly Step[], world: World, named?: string): Promise<ChainEnd> => {
  const errors: string[] = [];
  const stderr = listening(world.stderr, errors);
  let [before, run, last] = ['', named, ''];
  let judged: Exit = EXIT.done;
  const printing = steps.findLastIndex((one) => !one.beside);
  for (const [at, { tool, args, takes, judges = false }] of steps.entries()) {
    if (world.interrupted.aborted) {
      const again = run === undefined ? '' : `; the same command with '--run ${run}' goes on from there`;
      errors.push(`interrupted by ${String(world.interrupted.reason)} before '${tool.name}'${again}`);
      return { exit: EXIT.interrupted, run, last: '', refused: false, errors };
    }
    const output = kept();
    const stdout = at === printing ? world.stdout : at > printing ? stderr : output;
    const outside = between(world, stdout, stderr, at === 0 ? undefined : before);
    const exit = await tool.main(takes === 'run' ? [...args, '--run', run!] : args, outside);
    last = tool.name;
    before = output.text();
    // Everything a step prints before the last is a path or, for the step that reads it, a whole file.
    if (at < printing && steps[at + 1]!.takes === 'run') run = before.trimEnd() || run;
    if (exit === EXIT.judgedBad) judged = exit;
    else if (exit !== EXIT.done)
      return { exit, run, last, refused: judges && exit === EXIT.notJudged, errors };
  }
  return { exit: judged, run, last, refused: false, errors };
};

/** One attempt of a pipeline: its number from 1, and how many there are at most. */
export interface Attempt extends ChainEnd {
  attempt: number;
  attempts: number;
}

/** The chain, as often as `--not-judged` allows; `tell` hears of each attempt's end. `run` is the one that was named. */
export const runPipeline = async (
  steps: readonly Step[],
  notJudged: NotJudged,
  {
    world,
    talk,
    run: named,
    tell,
  }: { world: World; talk: Talk; run?: string | undefined; tell?: (attempt: Attempt) => void },
): Promise<Exit> => {
  const attempts = notJudged.retries + 1;
  for (let attempt = 1; ; attempt++) {
    const end = await runChain(steps, world, named);
    tell?.({ ...end, attempt, attempts });
    // Every step says itself why it ended; between two of them nobody else would.
    if (end.last === '') for (const one of end.errors) talk.error(one);
    if (end.exit === EXIT.notJudged && end.run !== undefined)
      talk.warn(`everything about it is in '${end.run}'`);
    if (!end.refused) return end.exit;
    if (attempt === attempts && notJudged.end === 'fail') return end.exit;
    if (attempt === attempts) {
      talk.warn("not judged, and '--not-judged' lets it pass: nothing is known about what was measured");
      return EXIT.done;
    }
    talk.info(`attempt ${attempt + 1} of ${attempts}, with a run of its own`);
  }
};
