/**
 * An agent's settings: all that the harness knows of it. The schema is schemas/agent-settings.ts; this program brings no schema
 * library, so {@link readSettings} checks by hand what it needs, and a test holds the two together.
 *
 * Texts may hold `{node}` (a Node that runs it), `{arm}` (the directory it is installed in), `{arch}` and `{cpu}` (x64 and
 * x86_64, arm64 and aarch64), `{home}` (its empty home), `{project}` (the directory it works in), `{dashes}` (that path as one
 * name), `{file}` (the file that its tool reads), `{url}` (the model's API, ending in /v1), `{model}` (its name), `{context}`
 * (its tokens), `{prompt}` (what the user says); `{{` and `}}` are braces.
 */
import {
  type Check,
  fields,
  isObject,
  list,
  named,
  object,
  oneOf,
  record,
  rule,
  text,
  whole,
} from '../shape.ts';

/** A JSON object that goes out, and what must come back before the next. */
export interface Exchange {
  send?: Readonly<Record<string, unknown>>;
  /** A line that holds at least this. */
  until?: Readonly<Record<string, unknown>>;
  /** Name → path of a text in that line, such as `result.sessionId`; `{name}` stands for it from then on. */
  keep?: Readonly<Record<string, string>>;
}

export interface Rpc {
  arguments: string[];
  /** Until the agent is ready. */
  ready: Exchange[];
  /** One prompt, until its answer is complete. */
  prompt: Exchange[];
}

/** A key press, or several, once the screen matches a pattern. */
export interface Keys {
  when: string;
  keys: string;
}

export interface Terminal {
  arguments: string[];
  columns?: number;
  rows?: number;
  /** Screens on the way that want a key: trust, welcome, what's new. */
  dismiss?: Keys[];
  /** The screen that takes a prompt. */
  ready: string;
  /** A screen on which the agent is at work; idle is a screen that is ready and not busy. */
  busy?: string;
  /** What sends a prompt (default: Enter), and what ends the agent. */
  submit?: string;
  quit: string[];
}

type Template = Readonly<Record<string, unknown>>;

/**
 * Lines of a session's file, as templates: of its beginning, and of each entry. They may hold `{id}` of the line, `{parent}`
 * of the one before, `{time}` and `{ms}`, `{uuid}` of the session, `{text}`, `{call}`, and of a compaction `{tokens}` and `{kept}`.
 */
export interface SessionFormat {
  head: Template[];
  user: Template[];
  call: Template[];
  result: Template[];
  answer: Template[];
  compaction?: Template[];
}

/** How a generated session is written and resumed; `{session}` is its file, `{uuid}` its id. */
export interface Session {
  /** Where its file goes, below the home. */
  file: string;
  lines: SessionFormat;
  /** Arguments that resume it in the terminal interface. */
  terminal: string[];
  /** Resumed in RPC mode. */
  rpc?: { arguments: string[]; ready: Exchange[] };
  /** Resumed from within the terminal interface, screen by screen. */
  resume?: Keys[];
}

export interface Settings {
  format: 'agent-settings/1';
  name: string;
  about?: string;
  api: 'chat-completions' | 'responses';
  /** The program and its first arguments, whatever the mode. */
  program: string[];
  env?: Record<string, string>;
  /** Files of the fresh home: path → text, or a value that becomes JSON. */
  files?: Record<string, unknown>;
  version: { arguments: string[]; prints: string };
  print: { arguments: string[] };
  /** The tool that reads a file. */
  tool: { name: string; arguments: Record<string, unknown> };
  rpc?: Rpc;
  terminal?: Terminal;
  session?: Session;
  /** What a screen or a message looks like that asks for a login. */
  login?: string;
  /** Open files outside of the home that are no offence, as patterns of paths. */
  mayWrite?: string[];
  /** Hosts that it may try to reach in vain; each is recorded. */
  mayReach?: string[];
}

const pattern: Check = rule((value) => {
  try {
    return typeof value === 'string' && value !== '' && Boolean(new RegExp(value, 'u'));
  } catch {
    return false;
  }
}, 'a regular expression');
const words = list(text, 'a list of arguments');
const anyWords: Check = (value, path) =>
  Array.isArray(value)
    ? value.flatMap((one, at) => text(one, `${path}.${at}`))
    : [`${path}: expected a list of arguments`];
const exchange = fields({ send: object, until: object, keep: record(named) });
const exchanges = list(exchange, 'a list of at least one exchange');

const templates = list(object, 'a list of at least one line');
const keys = fields({ 'when!': pattern, 'keys!': named });

const settings = fields({
  'format!': rule(
    (value) => value === 'agent-settings/1',
    'format "agent-settings/1"; another version needs another k8sbench',
  ),
  'name!': rule(
    (value) => typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,30}$/.test(value),
    'a name of a-z, 0-9 and -',
  ),
  about: text,
  'api!': oneOf('chat-completions', 'responses'),
  'program!': rule(
    (value) => words(value, '').length === 0 && (value as string[])[0] !== '',
    'a program and its arguments',
  ),
  env: record(text),
  files: record(rule((value) => typeof value === 'string' || isObject(value), 'a text or an object')),
  'version!': fields({ 'arguments!': anyWords, 'prints!': pattern }),
  'print!': fields({ 'arguments!': anyWords }),
  'tool!': fields({ 'name!': named, 'arguments!': object }),
  rpc: fields({ 'arguments!': anyWords, 'ready!': exchanges, 'prompt!': exchanges }),
  terminal: fields({
    'arguments!': anyWords,
    columns: whole(20),
    rows: whole(5),
    dismiss: list(keys, 'a list of at least one screen'),
    'ready!': pattern,
    busy: pattern,
    submit: named,
    'quit!': list(named, 'a list of keys'),
  }),
  session: fields({
    'file!': named,
    'lines!': fields({
      'head!': templates,
      'user!': templates,
      'call!': templates,
      'result!': templates,
      'answer!': templates,
      compaction: templates,
    }),
    'terminal!': anyWords,
    rpc: fields({ 'arguments!': anyWords, 'ready!': exchanges }),
    resume: list(keys, 'a list of at least one screen'),
  }),
  login: pattern,
  mayWrite: list(pattern, 'a list of patterns'),
  mayReach: list(named, 'a list of hosts'),
});

/** Settings, or everything that is wrong with them: path, what was expected. */
export const readSettings = (value: unknown): { settings: Settings } | { problems: string[] } => {
  const problems = settings(value, '');
  return problems.length > 0 ? { problems } : { settings: value as Settings };
};
