/** Print mode: one prompt, one process. */
import { refuseEscapes } from './escapes.ts';
import { AgentFailure, quoted } from './failure.ts';
import { asksForLogin, type Bench, filled, settle } from './bench.ts';
import { PRINT_ANSWER, PRINT_PROMPT, TOOLS_ANSWER, TOOLS_PROMPT } from './definition.ts';
import { notRead, type Seen } from './model.ts';
import type { Ended } from './started.ts';

export interface Measured {
  wall: number;
  cpu: number;
  exactCpu: number | null;
  peak: number;
}

const measured = ({ wall, cpu, exactCpu, peak }: Ended): Measured => ({ wall, cpu, exactCpu, peak });

const plain = (text: string): string => text.replace(/\u001b\[[0-9;:]*m/g, '');

/** From exec to exit of its version. */
export const runVersion = async (bench: Bench): Promise<Measured & { says: string }> => {
  bench.model.begin();
  const { version } = bench.settings;
  const ended = await bench.start(filled(version.arguments, bench.values)).endWell();
  refuseEscapes(ended.stdout + ended.stderr);
  const says = quoted(ended.stdout);
  if (!new RegExp(version.prints, 'u').test(plain(ended.stdout).trim()))
    throw new AgentFailure('answer', `prints '${says}' as its version, and '${version.prints}' is expected`);
  settle(bench);
  return { ...measured(ended), says };
};

const runPrompt = async (bench: Bench, prompt: string, answer: string) => {
  const { model, settings, values } = bench;
  model.begin();
  const started = bench.start(filled(settings.print.arguments, { ...values, prompt }));
  model.cpuFrom(() => started.tree.cpu());
  try {
    const ended = await started.endWell();
    settle(bench);
    refuseEscapes(ended.stdout + ended.stderr);
    if (!plain(ended.stdout).includes(answer)) {
      const said = quoted(`${ended.stdout} ${ended.stderr}`);
      throw asksForLogin(settings, said)
        ? new AgentFailure('login', `asks for a login instead of an answer; it says: ${said}`)
        : new AgentFailure(
            'answer',
            `does not print the model's answer '${answer}'; it printed: ${said || 'nothing'}`,
          );
    }
    return { started, ended };
  } finally {
    model.cpuFrom(undefined);
  }
};

/** One prompt, one reply. */
export const runPrint = async (bench: Bench): Promise<Measured> => {
  const { ended } = await runPrompt(bench, PRINT_PROMPT, PRINT_ANSWER);
  return measured(ended);
};

export interface Rounds extends Measured {
  /** From its start to its first request with the prompt. */
  open: number;
  openCpu: number;
  /** From the end of each reply to the next request. */
  turn: number[];
  turnCpu: number[];
  /** Size and messages of the first request. */
  requestBytes: number;
  messages: number;
  /** Requests beside the conversation, such as for a title. */
  side: number;
}

/** Each answered by the model, in order, each with what the file holds. */
const checked = (seen: readonly Seen[], rounds: number): readonly Seen[] => {
  if (seen.length !== rounds + 1)
    throw new AgentFailure(
      'answer',
      `asked the model ${seen.length} times for ${rounds} rounds of tools; ${rounds + 1} are expected`,
    );
  const wrong = seen.findIndex((one, at) => one.at !== at || (at > 0 && one.read !== true));
  if (wrong !== -1)
    throw new AgentFailure('answer', `did not read the file in round ${wrong}: ${notRead(seen[wrong])}`);
  return seen;
};

/** One prompt, N rounds of one tool call that reads a file, then the reply. */
export const runPrintTools = async (bench: Bench, rounds: number): Promise<Rounds> => {
  const { started, ended } = await runPrompt(bench, TOOLS_PROMPT, TOOLS_ANSWER);
  const seen = checked(bench.model.seen('tools'), rounds);
  const gaps = seen.slice(1).map((one, at) => ({ before: seen[at]!, one }));
  return {
    ...measured(ended),
    open: seen[0]!.arrived - started.from,
    openCpu: seen[0]!.cpu,
    turn: gaps.map(({ before, one }) => one.arrived - before.ended!),
    turnCpu: gaps.map(({ before, one }) => Math.max(0, one.cpu - before.cpu)),
    requestBytes: seen[0]!.requestBytes,
    messages: seen[0]!.messages,
    side: bench.model.seen().length - seen.length,
  };
};
