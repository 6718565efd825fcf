import { type Answer, pieces } from './choose.ts';
import type { Question } from './question.ts';
import type { Wire } from './wire.ts';

type Fields = Record<string, unknown>;

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

/** The events that bring a message, after it was added and before it is done. */
const messageEvents = (id: string, index: number, text: string, chunks: number): Fields[] => {
  const place = { item_id: id, output_index: index, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...place, part: textPart('') },
    ...pieces(text, chunks).map((delta) => ({
      type: 'response.output_text.delta',
      ...place,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: textPart(text) },
  ];
};

const callEvents = (id: string, index: number, given: string): Fields[] => [
  { type: 'response.function_call_arguments.delta', item_id: id, output_index: index, delta: given },
  { type: 'response.function_call_arguments.done', item_id: id, output_index: index, arguments: given },
];

/** An answer as the responses API gives it: one object, or the events of a stream. */
export const responsesWire = (answer: Answer, question: Question, id: string, created: number): Wire => {
  const { text, calls, usage, reply } = answer;
  const cut = reply.finish === 'length';
  const status = cut ? 'incomplete' : 'completed';
  const messages: Fields[] =
    text === '' && calls.length > 0
      ? []
      : [{ type: 'message', id: `msg_${id}`, status, role: 'assistant', content: [textPart(text)] }];
  const output: Fields[] = [
    ...messages,
    ...calls.map((call, index) => ({
      type: 'function_call',
      id: `fc_${id}_${index}`,
      status: 'completed',
      call_id: `call_${id}_${index}`,
      name: call.tool,
      arguments: call.arguments,
    })),
  ];
  const response = (state: string, items: readonly Fields[], counted: unknown): Fields => ({
    id: `resp_${id}`,
    object: 'response',
    created_at: created,
    status: state,
    error: null,
    incomplete_details: state === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    model: question.model,
    output: items,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: counted,
  });
  const whole = response(status, output, {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  });
  if (!question.stream) return { whole };
  const begun = response('in_progress', [], null);
  const events: Fields[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...output.flatMap((item, index): Fields[] => {
      const isMessage = item['type'] === 'message';
      const inner = isMessage
        ? messageEvents(item['id'] as string, index, text, reply.chunks ?? 1)
        : callEvents(item['id'] as string, index, item['arguments'] as string);
      const fresh = { ...item, status: 'in_progress', ...(isMessage ? { content: [] } : { arguments: '' }) };
      return [
        { type: 'response.output_item.added', output_index: index, item: fresh },
        ...inner,
        { type: 'response.output_item.done', output_index: index, item },
      ];
    }),
    { type: `response.${status}`, response: whole },
  ];
  return {
    events: events.map(
      (event, sequence) =>
        `event: ${event['type'] as string}\ndata: ${JSON.stringify({ ...event, sequence_number: sequence })}\n\n`,
    ),
  };
};
