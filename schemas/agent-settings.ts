/**
 * <agent>.json: how a coding agent is started in each of its modes, where its home is, how its model is configured, what its
 * screens look like. The agent harness (shared/workloads/lib/agent) knows nothing else of it: another agent is another file.
 *
 * Texts may hold `{node}`, `{arm}` (where it is installed), `{arch}` and `{cpu}` (x64 and x86_64, arm64 and aarch64), `{home}`,
 * `{project}`, `{dashes}` (that path as one name), `{file}` (that its tool reads), `{url}` (the model's API, ending in /v1),
 * `{model}`, `{context}` (its tokens) and `{prompt}`; `{{` and `}}` are braces. Exchanges also know `{n}`, an id for each message, and what they keep.
 */
import * as v from 'valibot';
import { command, formatTag, positive, text } from './primitives.ts';

const words = v.array(v.string('expected a text'), 'expected a list of arguments');

const isPattern = (given: string): boolean => {
  try {
    return Boolean(new RegExp(given, 'u'));
  } catch {
    return false;
  }
};
const pattern = v.pipe(
  v.string('expected a regular expression'),
  v.minLength(1, 'expected a regular expression'),
  v.check(isPattern, 'expected a regular expression'),
);

const object = v.pipe(
  v.looseObject({}, 'expected an object'),
  v.check((given) => !Array.isArray(given), 'expected an object'),
);

/** A line of JSON that goes out, and what the line must hold that ends the wait. */
const exchange = v.strictObject({
  send: v.optional(object),
  until: v.optional(object),
  /** Name → path of a text in that line; `{name}` stands for it from then on. */
  keep: v.optional(v.record(v.string(), text)),
});
const exchanges = v.pipe(v.array(exchange), v.minLength(1, 'expected a list of at least one exchange'));

const templates = v.pipe(v.array(object), v.minLength(1, 'expected a list of at least one line'));

/** Keys that are pressed once the screen matches. */
const screens = v.pipe(
  v.array(v.strictObject({ when: pattern, keys: text })),
  v.minLength(1, 'expected a list of at least one screen'),
);

const atLeast = (least: number) => v.pipe(positive, v.minValue(least, `expected a whole number ≥ ${least}`));

export const agentSettings = v.strictObject({
  format: formatTag('agent-settings/1'),
  name: v.pipe(
    v.string('expected a name of a-z, 0-9 and -'),
    v.regex(/^[a-z0-9][a-z0-9-]{0,30}$/, 'expected a name of a-z, 0-9 and -'),
  ),
  about: v.optional(v.string('expected a text')),
  /** Which of the model's APIs it speaks. */
  api: v.picklist(['chat-completions', 'responses'], 'expected chat-completions or responses'),
  /** The program and its first arguments, whatever the mode. */
  program: command,
  env: v.optional(v.record(v.string(), v.string('expected a text'))),
  /** Files of the fresh home: path → text, or a value that becomes JSON. */
  files: v.optional(v.record(v.string(), v.union([v.string(), object], 'expected a text or an object'))),
  /** From exec to exit; `prints` is a pattern of its output. */
  version: v.strictObject({ arguments: words, prints: pattern }),
  /** One prompt, one process, the answer on standard output. */
  print: v.strictObject({ arguments: words }),
  /** The tool that reads a file. */
  tool: v.strictObject({ name: text, arguments: object }),
  /** A long-lived process that is spoken to in lines of JSON. */
  rpc: v.optional(v.strictObject({ arguments: words, ready: exchanges, prompt: exchanges })),
  /** Its interface in a terminal; patterns are held against the text of the screen. */
  terminal: v.optional(
    v.strictObject({
      arguments: words,
      columns: v.optional(atLeast(20)),
      rows: v.optional(atLeast(5)),
      /** Screens on the way that want a key. */
      dismiss: v.optional(screens),
      /** The screen that takes a prompt; one that is `busy` is at work. */
      ready: pattern,
      busy: v.optional(pattern),
      submit: v.optional(text),
      quit: v.pipe(v.array(text), v.minLength(1, 'expected a list of keys')),
    }),
  ),
  /**
   * How a long session that is generated for it is written and resumed; without it, the agent has no such scenarios. Lines may hold
   * `{id}` and `{parent}` (the line before), `{time}` and `{ms}`, `{uuid}` of the session, `{text}`, `{call}`, `{tokens}`, `{kept}`.
   */
  session: v.optional(
    v.strictObject({
      /** Where its file goes, below the home. */
      file: text,
      lines: v.strictObject({
        head: templates,
        user: templates,
        call: templates,
        result: templates,
        answer: templates,
        compaction: v.optional(templates),
      }),
      /** Arguments that resume it in the terminal interface; `{session}` is the file. */
      terminal: words,
      /** Resumed in RPC mode. */
      rpc: v.optional(v.strictObject({ arguments: words, ready: exchanges })),
      /** Resumed from within the terminal interface, screen by screen. */
      resume: v.optional(screens),
    }),
  ),
  /** What it says when it asks for a login. */
  login: v.optional(pattern),
  /** Files outside of its home that it may write. */
  mayWrite: v.optional(v.pipe(v.array(pattern), v.minLength(1, 'expected a list of patterns'))),
  /** Hosts that it may try to reach in vain; how many did is recorded. */
  mayReach: v.optional(v.pipe(v.array(text), v.minLength(1, 'expected a list of hosts'))),
});
