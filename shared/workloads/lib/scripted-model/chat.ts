import { type Answer, pieces } from './choose.ts';
import type { Question } from './question.ts';
import type { Wire } from './wire.ts';

/** An answer as the chat completions API gives it: one object, or the chunks of a stream. */
export const chatWire = (answer: Answer, question: Question, id: string, created: number): Wire => {
  const { text, calls, usage, reply } = answer;
  const finish = reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  const toolCalls = calls.map((call, index) => ({
    id: `call_${id}_${index}`,
    type: 'function',
    function: { name: call.tool, arguments: call.arguments },
  }));
  const counted = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  };
  const head = { id: `chatcmpl-${id}`, created, model: question.model };
  if (!question.stream)
    return {
      whole: {
        ...head,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: text === '' && calls.length > 0 ? null : text,
              ...(calls.length > 0 ? { tool_calls: toolCalls } : {}),
            },
            finish_reason: finish,
          },
        ],
        usage: counted,
      },
    };
  const chunk = (delta: unknown, ended: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: ended }],
  });
  const chunks: unknown[] = [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(text, reply.chunks ?? 1).map((content) => chunk({ content })),
    ...toolCalls.map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, finish),
    ...(question.streamUsage
      ? [{ ...head, object: 'chat.completion.chunk', choices: [], usage: counted }]
      : []),
  ];
  return { events: [...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), 'data: [DONE]\n\n'] };
};
