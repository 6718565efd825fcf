/** The scripted model of one agent, and what it saw of that agent. */
import type { Exchange } from '../scripted-model/exchanges.ts';
import type { Question } from '../scripted-model/question.ts';
import type { Reply, Script } from '../scripted-model/script.ts';
import { type ModelServer, serve } from '../scripted-model/serve.ts';
import {
  FILE_MARK,
  MODEL,
  PRINT_ANSWER,
  PRINT_PROMPT,
  SIDE_ANSWER,
  STREAM_CHUNKS,
  STREAM_END,
  STREAM_GAP_S,
  STREAM_PROMPT,
  STREAM_TEXT,
  TOOLS_ANSWER,
  TOOLS_PROMPT,
  TURN_ANSWER,
  TURN_PROMPT,
} from './definition.ts';
import { quoted } from './failure.ts';
import type { Settings } from './settings.ts';

/** The script for an agent's tool, which reads a file once per round. */
export const scriptFor = (tool: Settings['tool'], rounds: number): Script => {
  const call: Reply = { calls: [{ tool: tool.name, arguments: tool.arguments }] };
  return {
    format: 'model-script/1',
    models: [MODEL],
    scenes: [
      { name: 'side', when: { tools: false }, replies: [{ text: SIDE_ANSWER }], after: 'repeat' },
      { name: 'print', when: { last: PRINT_PROMPT }, replies: [{ text: PRINT_ANSWER }] },
      {
        name: 'tools',
        when: { last: TOOLS_PROMPT },
        replies: [...Array.from({ length: rounds }, () => call), { text: TOOLS_ANSWER }],
      },
      { name: 'turn', when: { last: TURN_PROMPT }, replies: [call, { text: TURN_ANSWER }] },
      { name: 'other', replies: [{ text: SIDE_ANSWER }], after: 'repeat' },
    ],
  };
};

/** What is said to a resumed session, one after another, and answered by the model. */
export const sayings = (count: number): { prompt: string; answer: string }[] =>
  Array.from({ length: count }, (_, at) => ({
    prompt: `Answer number ${at + 1} of this session. (k8sbench long)`,
    answer: `LONG-ANSWER-${at + 1}-OF-${count}`,
  }));

/** The script for a resumed session: each saying is answered; one answer comes slowly, in many pieces. */
export const longScript = (count: number): Script => ({
  format: 'model-script/1',
  models: [MODEL],
  scenes: [
    { name: 'side', when: { tools: false }, replies: [{ text: SIDE_ANSWER }], after: 'repeat' },
    ...sayings(count).map(({ prompt, answer }) => ({
      name: 'long',
      when: { last: prompt },
      replies: [{ text: answer }],
    })),
    {
      name: 'stream',
      when: { last: STREAM_PROMPT },
      replies: [
        { text: `${STREAM_TEXT}\n\n${STREAM_END}`, chunks: STREAM_CHUNKS, latency: { gap_s: STREAM_GAP_S } },
      ],
    },
    { name: 'other', replies: [{ text: SIDE_ANSWER }], after: 'repeat' },
  ],
});

/** An exchange with what was measured around it. */
export interface Seen extends Exchange {
  /** CPU time of the agent's tree when the request was there, ms. */
  cpu: number;
  /** Whether the last result of a tool holds what the file holds; absent without a result. */
  read?: boolean;
  /** What it holds instead. */
  result?: string;
}

/** A tool's result without what the file holds, in a sentence's middle. */
export const notRead = (one: Seen | undefined): string =>
  `its tool's result does not hold what is in it, but: ${quoted(one?.result ?? '') || 'nothing'}`;

export interface Model {
  url: string;
  port: number;
  server: ModelServer;
  /** What was asked since the last call of `begin`, by scene. */
  seen(scene?: string): Seen[];
  /** Begins to count anew. */
  begin(): void;
  /** Reads the tree's CPU time at each request. */
  cpuFrom(read: (() => number) | undefined): void;
  /** Called when a request of a scene has come, and when its answer is gone. */
  on(listener: ((what: 'arrived' | 'ended', exchange: Seen) => void) | undefined): void;
  close(): Promise<void>;
}

/** Starts a scripted model on a free port of this machine. */
export const startModel = async (script: Script): Promise<Model> => {
  let from = 0;
  let readCpu: (() => number) | undefined;
  let listener: ((what: 'arrived' | 'ended', exchange: Seen) => void) | undefined;
  const server = await serve(
    script,
    {},
    {
      arrived: (exchange) => void ((exchange as Seen).cpu = readCpu?.() ?? 0),
      asked: (exchange, question: Question) => {
        const { lastResult: result } = question;
        if (result !== undefined)
          Object.assign(exchange, result.includes(FILE_MARK) ? { read: true } : { read: false, result });
        listener?.('arrived', exchange as Seen);
      },
      ended: (exchange) => listener?.('ended', exchange as Seen),
    },
  );
  return {
    url: server.url,
    port: server.port,
    server,
    seen: (scene) =>
      (server.exchanges.slice(from) as Seen[]).filter((one) => scene === undefined || one.scene === scene),
    begin: () => void (from = server.exchanges.length),
    cpuFrom: (read) => void (readCpu = read),
    on: (given) => void (listener = given),
    close: () => server.close(),
  };
};
