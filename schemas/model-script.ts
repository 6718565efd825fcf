/**
 * model-script.json: what the scripted model server answers, as data. Written by people; unknown keys are refused. The server
 * (shared/workloads/lib/scripted-model) brings no schema library and checks by hand what this says; a test holds both together.
 */
import * as v from 'valibot';
import { amount, count, formatTag, positive, text } from './primitives.ts';

export type Call = { tool: string; arguments: Record<string, unknown> } | { any: Call[] };

const call: v.GenericSchema<Call> = v.lazy((value) =>
  typeof value === 'object' && value !== null && 'any' in value
    ? v.strictObject({
        any: v.pipe(v.array(call), v.minLength(1, 'expected a list of at least one call')),
      })
    : v.strictObject({
        tool: text,
        arguments: v.pipe(
          v.looseObject({}, 'expected an object'),
          v.check((given) => !Array.isArray(given), 'expected an object'),
        ),
      }),
);

/** With `times`, only so often for the same request; then the reply is given. */
const times = v.optional(positive);

const fault = v.variant(
  'kind',
  [
    v.strictObject({
      kind: v.literal('status'),
      status: v.pipe(
        count,
        v.minValue(400, 'expected a whole number from 400 to 599'),
        v.maxValue(599, 'expected a whole number from 400 to 599'),
      ),
      message: v.optional(v.string('expected a text')),
      type: v.optional(text),
      retry_after_s: v.optional(amount),
      times,
    }),
    /** The connection ends after so many events. */
    v.strictObject({ kind: v.literal('cut'), after: v.optional(count), times }),
    /** Nothing is answered until the client gives up. */
    v.strictObject({ kind: v.literal('stall'), times }),
    /** A body that no client can read. */
    v.strictObject({ kind: v.literal('garbage'), times }),
  ],
  'expected status, cut, stall, garbage',
);

const reply = v.pipe(
  v.strictObject({
    text: v.optional(v.string('expected a text')),
    /** Tools that are called, at once; of `any`, the first whose tool the request offers. */
    calls: v.optional(v.pipe(v.array(call), v.minLength(1, 'expected a list of at least one call'))),
    /** Tokens; what is left out is a quarter of the characters. */
    usage: v.optional(
      v.strictObject({ input: v.optional(count), output: v.optional(count), cached: v.optional(count) }),
    ),
    /** Before the first byte, and before each further event of a stream. */
    latency: v.optional(v.strictObject({ first_s: v.optional(amount), gap_s: v.optional(amount) })),
    /** Pieces of a streamed text. */
    chunks: v.optional(positive),
    finish: v.optional(v.picklist(['stop', 'length'], 'expected stop or length')),
    /** What goes wrong instead. */
    fault: v.optional(fault),
  }),
  v.check(
    (one) => one.text !== undefined || one.calls !== undefined || one.fault !== undefined,
    'expected text, calls or a fault',
  ),
);

const scene = v.strictObject({
  name: text,
  /** What a request must be like; each text is a part of the one it is held against. */
  when: v.optional(
    v.strictObject({
      system: v.optional(text),
      user: v.optional(text),
      last: v.optional(text),
      model: v.optional(text),
      tools: v.optional(v.boolean('expected true or false')),
    }),
  ),
  /** The n-th answers a request that brings the results of n − 1 rounds of tools since the user's last message. */
  replies: v.pipe(v.array(reply), v.minLength(1, 'expected a list of at least one reply')),
  after: v.optional(v.picklist(['refuse', 'repeat'], 'expected refuse or repeat')),
});

export const modelScript = v.strictObject({
  format: formatTag('model-script/1'),
  about: v.optional(v.string('expected a text')),
  models: v.optional(v.pipe(v.array(text), v.minLength(1, 'expected a list of at least one name'))),
  /** The first that fits a request answers it. */
  scenes: v.pipe(v.array(scene), v.minLength(1, 'expected a list of at least one scene')),
});
