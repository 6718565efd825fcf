/**
 * A model's script: what it answers, as data. The schema is schemas/model-script.ts; this program brings no schema library,
 * so {@link readScript} checks by hand, and a test holds the two together.
 */
import {
  amount,
  at,
  type Check,
  fields,
  flag,
  isObject,
  list,
  named,
  object,
  oneOf,
  rule,
  text,
  whole,
} from '../shape.ts';

/** A tool that the model calls; of `any`, the first whose tool the request offers. */
export type Call = { tool: string; arguments: Record<string, unknown> } | { any: Call[] };

/** What goes wrong instead of an answer. With `times`, only so often for the same request; then the reply is given. */
export type Fault = (
  | { kind: 'status'; status: number; message?: string; type?: string; retry_after_s?: number }
  /** The connection ends after so many events of the stream (not streamed: in the middle of the body). */
  | { kind: 'cut'; after?: number }
  /** Nothing is answered, until the client gives up. */
  | { kind: 'stall' }
  /** A body that no client can read, with status 200. */
  | { kind: 'garbage' }
) & { times?: number };

export interface Usage {
  input: number;
  output: number;
  cached: number;
}

export interface Reply {
  text?: string;
  calls?: Call[];
  /** Tokens; what is left out is counted as a quarter of the characters. */
  usage?: Partial<Usage>;
  /** `first_s` before the first byte, `gap_s` before each further event of a stream. */
  latency?: { first_s?: number; gap_s?: number };
  /** Pieces of a streamed text. */
  chunks?: number;
  finish?: 'stop' | 'length';
  fault?: Fault;
}

/** What a request must be like; each text is a part of the one it is held against. */
export interface When {
  system?: string;
  /** Any of the user's messages. */
  user?: string;
  /** The user's last message. */
  last?: string;
  model?: string;
  /** Whether the request offers tools. */
  tools?: boolean;
}

/** Replies in order: the n-th answers a request that brings the results of n − 1 rounds of tools since the user's last message. */
export interface Scene {
  name: string;
  when?: When;
  replies: Reply[];
  /** After the last reply: `refuse` with an error (default), or `repeat` it. */
  after?: 'refuse' | 'repeat';
}

export interface Script {
  format: 'model-script/1';
  about?: string;
  /** Names of models that are listed; any name is answered. Default: `scripted`. */
  models?: string[];
  /** The first that fits a request answers it. */
  scenes: Scene[];
}

const oneCall = fields({ 'tool!': named, 'arguments!': object });
const call: Check = (value, path) =>
  isObject(value) && 'any' in value
    ? fields({ 'any!': list(call, 'a list of at least one call') })(value, path)
    : oneCall(value, path);

const FAULTS: Readonly<Record<string, Check>> = {
  status: fields({
    'kind!': text,
    'status!': whole(400, 599),
    message: text,
    type: named,
    retry_after_s: amount,
    times: whole(1),
  }),
  cut: fields({ 'kind!': text, after: whole(0), times: whole(1) }),
  stall: fields({ 'kind!': text, times: whole(1) }),
  garbage: fields({ 'kind!': text, times: whole(1) }),
};
const fault: Check = (value, path) => {
  const kind = isObject(value) ? value['kind'] : undefined;
  const check = typeof kind === 'string' && Object.hasOwn(FAULTS, kind) ? FAULTS[kind] : undefined;
  return check ? check(value, path) : [`${at(path, 'kind')}: expected ${Object.keys(FAULTS).join(', ')}`];
};

const saysSomething: Check = (value, path) =>
  isObject(value) &&
  value['text'] === undefined &&
  value['calls'] === undefined &&
  value['fault'] === undefined
    ? [`${path}: expected text, calls or a fault`]
    : [];
const replyFields = fields({
  text,
  calls: list(call, 'a list of at least one call'),
  usage: fields({ input: whole(0), output: whole(0), cached: whole(0) }),
  latency: fields({ first_s: amount, gap_s: amount }),
  chunks: whole(1),
  finish: oneOf('stop', 'length'),
  fault,
});
const reply: Check = (value, path) => [...replyFields(value, path), ...saysSomething(value, path)];

const script = fields({
  'format!': rule(
    (value) => value === 'model-script/1',
    'format "model-script/1"; another version needs another k8sbench',
  ),
  about: text,
  models: list(named, 'a list of at least one name'),
  'scenes!': list(
    fields({
      'name!': named,
      when: fields({ system: named, user: named, last: named, model: named, tools: flag }),
      'replies!': list(reply, 'a list of at least one reply'),
      after: oneOf('refuse', 'repeat'),
    }),
    'a list of at least one scene',
  ),
});

/** A script, or everything that is wrong with it: path, what was expected. */
export const readScript = (value: unknown): { script: Script } | { problems: string[] } => {
  const problems = script(value, '');
  return problems.length > 0 ? { problems } : { script: value as Script };
};
