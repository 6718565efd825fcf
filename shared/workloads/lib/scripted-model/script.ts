/**
 * A model's script: what it answers, as data. The schema is schemas/model-script.ts; this program brings no schema library,
 * so {@link readScript} checks by hand, and a test holds the two together.
 */

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

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown, path: string) => string[];

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (path: string, key: string | number): string => (path === '' ? String(key) : `${path}.${key}`);
const rule =
  (fits: (value: unknown) => boolean, wanted: string): Check =>
  (value, path) =>
    fits(value) ? [] : [`${path}: expected ${wanted}`];

const text = rule((value) => typeof value === 'string', 'a text');
const named = rule((value) => typeof value === 'string' && value !== '', 'a text that is not empty');
const flag = rule((value) => typeof value === 'boolean', 'true or false');
const amount = rule(
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  'a number ≥ 0',
);
const whole = (least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  rule(
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number ≥ ${least}`
      : `a whole number from ${least} to ${most}`,
  );
const oneOf = (...words: string[]): Check =>
  rule((value) => words.includes(value as string), words.join(' or '));
const object = rule(isObject, 'an object');

const list =
  (each: Check, wanted: string): Check =>
  (value, path) =>
    Array.isArray(value) && value.length > 0
      ? value.flatMap((one, index) => each(one, at(path, index)))
      : [`${path}: expected ${wanted}`];

/** An object with these fields and no others; `!` at the end of a name: it must be there. */
const fields = (checks: Readonly<Record<string, Check>>): Check => {
  const names = new Map(Object.entries(checks).map(([name, check]) => [name.replace(/!$/, ''), check]));
  const needed = Object.keys(checks).filter((name) => name.endsWith('!'));
  return (value, path) => {
    if (!isObject(value)) return [`${path || 'script'}: expected an object`];
    return [
      ...needed
        .map((name) => name.slice(0, -1))
        .filter((name) => value[name] === undefined)
        .map((name) => `${at(path, name)}: missing`),
      ...Object.entries(value).flatMap(([key, inner]) => {
        const check = names.get(key);
        return check
          ? inner === undefined
            ? []
            : check(inner, at(path, key))
          : [`${at(path, key)}: unknown key`];
      }),
    ];
  };
};

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
