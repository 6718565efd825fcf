/** long-history: a session of N history tokens in RPC mode, in the terminal, and resumed from within the terminal. */
import { type Bench, benchFields, filled, settle } from './bench.ts';
import { LONG_PROMPTS, STREAM_END, STREAM_PROMPT } from './definition.ts';
import { atRest, memoryFields } from './memory.ts';
import { sayings } from './model.ts';
import { fill, type Values } from './placeholders.ts';
import { placeSession, resumeInTerminal, say } from './resumed.ts';
import { typePrompt } from './pty.ts';
import { roundedAll } from './rounded.ts';
import { startRpc } from './rpc.ts';
import { type AskedLong, openLongBench } from './scale.ts';
import { LAST_WORDS } from './session.ts';
import { TerminalRun } from './terminal.ts';

/** RPC mode: the open and five appended turns; then a fresh process resumes what there is by then. */
const rpcPhase = async (bench: Bench, values: Values) => {
  const { session } = bench.settings;
  const begin = () => startRpc(bench, session!.rpc!, bench.settings.rpc!, values);
  const first = await begin();
  const { ready, readyCpu } = first;
  const turn: number[] = [];
  const turnCpu: number[] = [];
  for (const { prompt } of sayings(LONG_PROMPTS)) {
    const said = await first.say(prompt);
    turn.push(said.wall);
    turnCpu.push(said.cpu);
  }
  settle(bench);
  const memory = first.memory();
  await first.end();
  const again = await begin();
  const resumed = { ready: again.ready, cpu: again.readyCpu };
  await again.end();
  const [request] = bench.model.seen('long');
  return { ready, readyCpu, turn, turnCpu, memory, resumed, request: request! };
};

/** A key pressed now and then while an answer streams, each until it is shown. */
const keysWhileStreaming = async (bench: Bench, run: TerminalRun) => {
  await typePrompt(run, STREAM_PROMPT);
  const { frames, bytes } = run.screen;
  const ended = new Promise<number>((resolve) =>
    bench.model.on((what, exchange) => {
      if (what === 'ended' && exchange.scene === 'stream') resolve(exchange.ended!);
    }),
  );
  const asked = performance.now();
  run.type(run.settings.submit ?? '\r');
  await run.shown('piece 3', 'it showed the beginning of a long answer');
  const key = await run.keys('while');
  const modelEnd = await run.started.until(ended, 'the model had said everything');
  const shown = await run.shown(STREAM_END, 'it showed the end of a long answer');
  await run.rest('it was at rest after a long answer');
  return {
    key,
    frames: run.screen.frames - frames,
    bytes: run.screen.bytes - bytes,
    wall: shown - asked,
    behind: Math.max(0, shown - modelEnd),
  };
};

/** The terminal interface: first output, settled screen, keys at rest and during a stream, another width and height. */
const terminalPhase = async (bench: Bench, values: Values) => {
  const run = resumeInTerminal(bench, values);
  try {
    const first = await run.first();
    const settled = await run.ready(1000);
    const settledCpu = run.cpu();
    const { columns = 100, rows = 30 } = run.settings;
    const said = await say(bench, run, sayings(LONG_PROMPTS)[0]!.prompt, sayings(LONG_PROMPTS)[0]!.answer);
    const stream = await keysWhileStreaming(bench, run);
    const width = await run.resize(columns - 20, rows);
    const height = await run.resize(columns - 20, rows - 6);
    settle(bench);
    const memory = atRest(run.started.tree);
    const quit = await run.quit(values);
    return { first, settled, settledCpu, said, stream, width, height, memory, quit };
  } catch (error) {
    await run.drop();
    throw error;
  } finally {
    bench.model.on(undefined);
  }
};

/** From an empty screen to the session's, by the agent's own commands. Absent where its settings know none. */
const resumePhase = async (bench: Bench, values: Values) => {
  const { session, terminal } = bench.settings;
  if (!session!.resume) return undefined;
  const run = new TerminalRun(bench, filled(terminal!.arguments, bench.values));
  try {
    await run.ready();
    const cpu = run.cpu();
    let from = 0;
    for (const { when, keys } of session!.resume) {
      await run.started.until(
        run.screen.settled((text) => new RegExp(when, 'u').test(text)),
        `its screen showed '${when}'`,
      );
      from = performance.now();
      run.type(fill(keys, values));
    }
    const at = await run.started.until(
      run.screen.settled((text) => text.includes(LAST_WORDS) || text.includes(STREAM_END), 1000),
      'it showed the end of the session',
    );
    const wall = Math.max(0, at - from);
    const spent = Math.max(0, run.cpu() - cpu);
    await run.quit(values);
    return { wall, cpu: spent };
  } catch (error) {
    await run.drop();
    throw error;
  }
};

/** One sample: the fields of its line. */
export const historySample = async (asked: AskedLong): Promise<object> => {
  const { dir, seed } = asked;
  const bench = await openLongBench(asked);
  try {
    const values = placeSession(bench, dir, seed);
    const rpc = await rpcPhase(bench, values);
    bench.model.begin();
    const terminal = await terminalPhase(bench, placeSession(bench, dir, seed));
    const resume = await resumePhase(bench, values);
    await bench.close();
    return roundedAll({
      open: rpc.ready,
      openCpu: rpc.readyCpu,
      turn: rpc.turn,
      turnCpu: rpc.turnCpu,
      ...(rpc.memory.peak > 0 ? { peakRss: rpc.memory.peak } : {}),
      rpcResume: rpc.resumed.ready,
      rpcResumeCpu: rpc.resumed.cpu,
      ...memoryFields('rpc', rpc.memory),
      requestBytes: rpc.request.requestBytes,
      requestMessages: rpc.request.messages,
      ptyFirst: terminal.first,
      ptySettled: terminal.settled,
      ptySettledCpu: terminal.settledCpu,
      keyIdle: terminal.said.key,
      keyStreaming: terminal.stream.key,
      prompt: terminal.said.wall,
      promptCpu: terminal.said.cpu,
      streamFrames: terminal.stream.frames,
      streamBytes: terminal.stream.bytes,
      streamBehind: terminal.stream.behind,
      redrawWidth: terminal.width.redraw,
      redrawWidthBytes: terminal.width.bytes,
      redrawHeight: terminal.height.redraw,
      redrawHeightBytes: terminal.height.bytes,
      ...memoryFields('pty', terminal.memory),
      ptyQuit: terminal.quit,
      ...(resume ? { resume: resume.wall, resumeCpu: resume.cpu } : {}),
      ...benchFields(bench),
      fingerprint: seed.fingerprint,
    });
  } finally {
    await bench.drop();
  }
};
