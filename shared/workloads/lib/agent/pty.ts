/** The terminal interface: first frame, settled screen, one prompt from the keyboard to the model and to the screen. */
import { type Bench, filled, settle } from './bench.ts';
import { TURN_ANSWER, TURN_PROMPT } from './definition.ts';
import { AgentFailure } from './failure.ts';
import { type AtRest, atRest } from './memory.ts';
import { notRead } from './model.ts';
import { TerminalRun } from './terminal.ts';

export interface Interface {
  first: number;
  settled: number;
  settledCpu: number;
  /** Of each key typed, until it is shown. */
  key: number[];
  toModel: number;
  toScreen: number;
  promptCpu: number;
  quit: number;
  memory: AtRest;
}

/** Keys that are typed one by one; the rest of the prompt comes at once. */
const SINGLE_KEYS = 8;

/** Types a prompt, and waits until all of it is shown. Latencies of its first keys, ms. */
export const typePrompt = async (run: TerminalRun, prompt: string): Promise<number[]> => {
  const key = await run.keys(prompt.slice(0, SINGLE_KEYS));
  run.type(prompt.slice(SINGLE_KEYS));
  await run.shown(prompt, 'it showed the prompt that was typed');
  await run.rest('it showed the prompt that was typed', 200);
  return key;
};

export const runPty = async (bench: Bench): Promise<Interface> => {
  const { model, values, settings } = bench;
  model.begin();
  const run = new TerminalRun(bench, filled(settings.terminal!.arguments, values));
  try {
    const first = await run.first();
    const settled = await run.ready();
    const settledCpu = run.cpu();
    const key = await typePrompt(run, TURN_PROMPT);
    const arrived = new Promise<number>((resolve) =>
      model.on((what, exchange) => {
        if (what === 'arrived' && exchange.scene === 'turn' && exchange.at === 0) resolve(exchange.arrived);
      }),
    );
    const cpu = run.cpu();
    const from = performance.now();
    run.type(settings.terminal!.submit ?? '\r');
    const toModel = (await run.started.until(arrived, 'its prompt reached the model')) - from;
    const toScreen = (await run.shown(TURN_ANSWER, 'it showed the answer')) - from;
    await run.rest('it was at rest after the answer');
    const promptCpu = Math.max(0, run.cpu() - cpu);
    settle(bench);
    const last = model.seen('turn').at(-1);
    if (last?.read !== true) throw new AgentFailure('answer', `did not read the file: ${notRead(last)}`);
    const memory = atRest(run.started.tree);
    const quit = await run.quit(values);
    return { first, settled, settledCpu, key, toModel, toScreen, promptCpu, quit, memory };
  } catch (error) {
    await run.drop();
    throw error;
  } finally {
    model.on(undefined);
  }
};
