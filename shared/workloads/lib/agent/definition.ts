/** What every agent is asked to do: the same words, the same file, the same answers. Its digest is the workload's fingerprint. */
import { createHash } from 'node:crypto';

export const SCENARIOS = ['version', 'print', 'print-tools', 'rpc', 'pty'] as const;
export type Scenario = (typeof SCENARIOS)[number];

export const MODEL = 'scripted';
/** Marks in texts, which agents pass on but never write themselves. */
export const PRINT_PROMPT = 'Say that you are there. (k8sbench print)';
export const TOOLS_PROMPT = 'Read the file and say what it is about. (k8sbench tools)';
export const TURN_PROMPT = 'Read the file once more. (k8sbench turn)';
export const FILE_MARK = 'the-quick-brown-benchmark';
export const FILE_NAME = 'notes.txt';
export const FILE_TEXT = `${Array.from({ length: 40 }, (_, line) => `line ${line + 1}: ${FILE_MARK} jumps over the lazy noise`).join('\n')}\n`;
/** One word each, so that no screen breaks it. */
export const PRINT_ANSWER = 'PRINT-ANSWER-4711';
export const TOOLS_ANSWER = 'TOOLS-ANSWER-0815';
export const TURN_ANSWER = 'TURN-ANSWER-1138';

/** Whatever else an agent asks its model, a title for example. */
export const SIDE_ANSWER = 'a short title';

/** An answer that comes piece by piece, while somebody types. */
export const STREAM_PROMPT = 'Answer at length, slowly. (k8sbench stream)';
export const STREAM_END = 'STREAM-ENDS-HERE';
export const STREAM_CHUNKS = 60;
export const STREAM_GAP_S = 0.04;
export const STREAM_TEXT = Array.from({ length: 60 }, (_, at) => `piece ${at + 1} of what is said`).join(
  ', ',
);
/** Prompts that a resumed session answers. */
export const LONG_PROMPTS = 5;

/** Digest of the workload's definition: the first 16 hex digits of SHA-256. Targets with another definition did other work. */
export const fingerprintOf = (scenarios: readonly Scenario[], rounds: number): string =>
  createHash('sha256')
    .update(
      JSON.stringify({
        definition: 1,
        scenarios: SCENARIOS.filter((one) => scenarios.includes(one)),
        rounds,
        model: MODEL,
        prompts: [PRINT_PROMPT, TOOLS_PROMPT, TURN_PROMPT],
        file: [FILE_NAME, FILE_TEXT],
        answers: [PRINT_ANSWER, TOOLS_ANSWER, TURN_ANSWER, SIDE_ANSWER],
      }),
    )
    .digest('hex')
    .slice(0, 16);
