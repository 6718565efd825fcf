/**
 * <arm>.yaml: how an agent of a bundle works on a task: its command, its provider's file, which API it speaks, how its
 * output is read. People write it, so unknown keys are refused; a new agent is a file, no code. Spec §9.
 *
 * Texts may hold `{node}` (the pinned Node), `{arm}` (the directory arms/<id> of the bundle), `{home}` (an empty home directory),
 * `{url}` (the model's API, ending in /v1), `{model}` (its name), `{instruction}` (the task's text), `{context}` (the
 * model's context in tokens), `{arch}` (x64, arm64) and `{cpu}` (x86_64, aarch64); `{{` and `}}` are braces.
 */
import * as v from 'valibot';
import { command, text, word } from './primitives.ts';

/** What has to hold of a line of JSON: path of keys → the text it must have there. */
const where = v.record(text, v.string('expected a text'));

/** A sum of numbers of a line: paths of keys; one that begins with `-` is taken away. */
const sum = v.array(v.pipe(text, v.regex(/^-?[\w.]+$/, 'expected a path such as usage.input')));

export const armSettings = v.strictObject({
  /** The arm's id in arms.lock and in the bundle. */
  arm: word,
  about: v.optional(text),
  /** Which of the model's APIs it speaks. */
  api: v.picklist(['chat-completions', 'responses'], 'expected chat-completions or responses'),
  /** Ends with 0 when the arm can run here. */
  version: command,
  /** Works on the task to its end, in the image's working directory. */
  command,
  /** What it reads on stdin; absent: nothing. */
  stdin: v.optional(text),
  env: v.optional(v.record(v.string(), v.string())),
  /** Files that are there before it starts, with its provider: path below the home → content, or a value that becomes JSON. */
  files: v.optional(
    v.record(text, v.union([v.string(), v.looseObject({})], 'expected a text or an object')),
    {},
  ),
  /** How lines of JSON on its stdout are counted; other lines are passed over. */
  transcript: v.optional(
    v.strictObject({
      /** Lines that are messages of the assistant. */
      messages: where,
      usage: v.strictObject({
        where,
        /** `add`: the lines' numbers are added up; `last`: each line holds the sum so far. */
        take: v.optional(v.picklist(['add', 'last'], 'expected add or last'), 'add'),
        input: sum,
        output: sum,
        cacheRead: v.optional(sum, []),
        cacheWrite: v.optional(sum, []),
      }),
    }),
  ),
});

export type ArmSettings = v.InferOutput<typeof armSettings>;
