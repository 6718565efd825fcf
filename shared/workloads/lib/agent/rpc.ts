/** RPC mode: a long-lived process that is spoken to in lines of JSON, whatever their protocol; the settings hold the words. */
import { type Bench, filled, settle } from './bench.ts';
import { TURN_PROMPT } from './definition.ts';
import { refuseEscapes } from './escapes.ts';
import { AgentFailure, quoted } from './failure.ts';
import { fillAll, type Values } from './placeholders.ts';
import type { Exchange, Rpc } from './settings.ts';
import { type AtRest, atRest } from './memory.ts';
import { notRead } from './model.ts';
import type { Started } from './started.ts';

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Whether a value holds at least what is wanted: of objects the named keys, of lists as many elements. */
export const holds = (value: unknown, wanted: unknown): boolean => {
  if (!isObject(wanted)) return value === wanted;
  return isObject(value) && Object.entries(wanted).every(([key, inner]) => holds(value[key], inner));
};

/** The text at a path such as `result.sessionId`. */
export const textAt = (value: unknown, path: string): string | undefined => {
  const found = path.split('.').reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
};

/** Most that one line may hold, bytes. */
const LINE_BYTES = 64 << 20;

/** Splits what arrives into lines of JSON, and hands each to whoever waits for it. */
export class Lines {
  #rest: Buffer[] = [];
  #size = 0;
  #waiting: { wanted: unknown; found: (line: unknown) => void } | undefined;
  /** Lines that nobody waited for are forgotten: an agent tells much that is not asked. */
  last = '';

  take(part: Buffer): void {
    for (let from = 0; from < part.length;) {
      const end = part.indexOf(10, from);
      const piece = part.subarray(from, end === -1 ? part.length : end);
      this.#rest.push(piece);
      this.#size += piece.length;
      if (this.#size > LINE_BYTES)
        throw new AgentFailure('answer', `printed a line of more than ${LINE_BYTES} bytes`);
      if (end === -1) return;
      const line = Buffer.concat(this.#rest).toString('utf8');
      this.#rest = [];
      this.#size = 0;
      from = end + 1;
      this.#line(line);
    }
  }

  #line(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // Talk between the records.
      return refuseEscapes(line);
    }
    this.last = line;
    if (!this.#waiting || !holds(value, this.#waiting.wanted)) return;
    const { found } = this.#waiting;
    this.#waiting = undefined;
    found(value);
  }

  /** The next line that holds this. */
  until(wanted: unknown): Promise<unknown> {
    return new Promise((found) => (this.#waiting = { wanted, found }));
  }
}

/** Exchanges one after another; what they keep is known to those that follow. */
class Talk {
  readonly #started: Started;
  readonly #lines: Lines;
  #values: Values;
  #sent = 0;

  constructor(started: Started, lines: Lines, values: Values) {
    this.#started = started;
    this.#lines = lines;
    this.#values = values;
  }

  async go(exchanges: readonly Exchange[], what: string, more: Values = {}): Promise<void> {
    for (const { send, until, keep } of exchanges) {
      if (send !== undefined) this.#sent++;
      const values = { ...this.#values, ...more, n: `k${this.#sent}` };
      const came = until === undefined ? undefined : this.#lines.until(fillAll(until, values));
      if (send !== undefined) this.#started.write(`${JSON.stringify(fillAll(send, values))}\n`);
      if (came === undefined) continue;
      const line = await this.#started.until(came, what);
      for (const [name, path] of Object.entries(keep ?? {})) {
        const text = textAt(line, path);
        if (text === undefined)
          throw new AgentFailure('answer', `answered without '${path}': ${quoted(JSON.stringify(line))}`);
        this.#values = { ...this.#values, [name]: text };
      }
    }
  }
}

export interface RpcRun {
  /** From its start until it is ready, ms. */
  ready: number;
  readyCpu: number;
  /** One prompt, from its sending until all of its answer is there. */
  say(prompt: string): Promise<{ wall: number; cpu: number }>;
  /** Its tree's memory by now. */
  memory(): AtRest;
  /** Closes its input, which ends it. */
  end(): Promise<void>;
  /** Ends it whatever it does. */
  drop(): Promise<void>;
}

/** Starts RPC mode and waits until it is ready. When anything fails, nothing of it is left. */
export const startRpc = async (
  bench: Bench,
  { arguments: words, ready: opening }: Pick<Rpc, 'arguments' | 'ready'>,
  { prompt: exchanges }: Pick<Rpc, 'prompt'>,
  values: Values = bench.values,
): Promise<RpcRun> => {
  const lines = new Lines();
  const started = bench.start(filled(words, values), {
    stdin: true,
    onOutput: (part) => lines.take(part),
    screen: () => started.stderr || lines.last,
  });
  const drop = async (): Promise<void> => {
    started.killAll();
    await started.end().catch(() => undefined);
  };
  const talk = new Talk(started, lines, values);
  try {
    await talk.go(opening, 'it was ready');
  } catch (error) {
    await drop();
    throw error;
  }
  let said = 0;
  return {
    ready: performance.now() - started.from,
    readyCpu: started.tree.cpu(),
    async say(prompt) {
      const cpu = started.tree.cpu();
      const from = performance.now();
      await talk.go(exchanges, `prompt ${++said} was answered`, { prompt });
      return { wall: performance.now() - from, cpu: Math.max(0, started.tree.cpu() - cpu) };
    },
    memory: () => atRest(started.tree),
    async end() {
      started.closeInput();
      // Its end is no part of the measurement, and an agent that needs a signal for it did nothing wrong.
      const reminder = setTimeout(() => started.signal('SIGTERM'), 2000);
      const { stderr } = await started.end();
      clearTimeout(reminder);
      refuseEscapes(stderr);
    },
    drop,
  };
};

export interface Conversation {
  ready: number;
  readyCpu: number;
  prompt: number[];
  promptCpu: number[];
  memory: AtRest;
}

/** Ready, then N prompts of one tool call each. */
export const runRpc = async (bench: Bench, prompts: number): Promise<Conversation> => {
  const { model, settings } = bench;
  model.begin();
  const run = await startRpc(bench, settings.rpc!, settings.rpc!);
  try {
    const prompt: number[] = [];
    const promptCpu: number[] = [];
    for (let at = 0; at < prompts; at++) {
      const said = await run.say(TURN_PROMPT);
      prompt.push(said.wall);
      promptCpu.push(said.cpu);
    }
    settle(bench);
    const turns = model.seen('turn');
    if (turns.length !== 2 * prompts)
      throw new AgentFailure(
        'answer',
        `asked the model ${turns.length} times for ${prompts} prompts of one tool call each; ${2 * prompts} are expected`,
      );
    const wrong = turns.findIndex((one, at) => at % 2 === 1 && one.read !== true);
    if (wrong !== -1)
      throw new AgentFailure(
        'answer',
        `did not read the file for prompt ${(wrong + 1) / 2}: ${notRead(turns[wrong])}`,
      );
    const memory = run.memory();
    await run.end();
    return { ready: run.ready, readyCpu: run.readyCpu, prompt, promptCpu, memory };
  } catch (error) {
    await run.drop();
    throw error;
  }
};
