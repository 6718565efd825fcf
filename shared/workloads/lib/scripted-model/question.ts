/** A request of either API, reduced to what a script asks about. */

export type Api = 'chat' | 'responses';

export interface Question {
  api: Api;
  model: string;
  stream: boolean;
  /** Chat completions stream usage only when asked. */
  streamUsage: boolean;
  system: string;
  /** The user's messages, oldest first. */
  users: string[];
  /** Rounds of tools since the user's last message: each run of results is one. */
  rounds: number;
  /** Text of the last result of a tool; absent when the last message is none. */
  lastResult?: string;
  /** Names of the tools that are offered. */
  tools: string[];
  /** Messages, tool calls and results that the request brings. */
  messages: number;
  /** Characters of all of them, as far as they are text. */
  characters: number;
}

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Text of a message's content: a string, or parts of which those with `text` count. */
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
        .join('');

type Kind = 'system' | 'user' | 'assistant' | 'result' | 'other';

/** What an item of a history is, in either API. */
const kindOf = (item: Fields): Kind => {
  const { role, type } = item;
  if (role === 'system' || role === 'developer') return 'system';
  if (role === 'user' || role === 'assistant') return role;
  if (role === 'tool' || (typeof type === 'string' && type.endsWith('_output'))) return 'result';
  return 'other';
};

const toolName = (tool: unknown): string[] => {
  if (!isObject(tool)) return [];
  const inner = isObject(tool['function']) ? tool['function'] : tool;
  const name = inner['name'] ?? tool['type'];
  return typeof name === 'string' ? [name] : [];
};

/** Reads a parsed body; a sentence when it is no request of that API. */
export const readQuestion = (api: Api, body: unknown): Question | string => {
  if (!isObject(body)) return 'expected a JSON object';
  const { model, input, messages } = body;
  if (typeof model !== 'string' || model === '') return 'model: expected a name';
  const given =
    api === 'chat' ? messages : typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(given) || !given.every(isObject))
    return `${api === 'chat' ? 'messages' : 'input'}: expected a list of messages`;
  const systems = typeof body['instructions'] === 'string' ? [body['instructions']] : [];
  const users: string[] = [];
  let rounds = 0;
  let before: Kind = 'other';
  let result: string | undefined;
  let characters = systems[0]?.length ?? 0;
  for (const item of given) {
    const kind = kindOf(item);
    const said = textOf(item['content'] ?? item['output']);
    characters += said.length;
    if (kind === 'system') systems.push(said);
    if (kind === 'user') {
      users.push(said);
      rounds = 0;
    }
    if (kind === 'result' && before !== 'result') rounds++;
    result = kind === 'result' ? said : undefined;
    before = kind;
  }
  const options = body['stream_options'];
  return {
    api,
    model,
    stream: body['stream'] === true,
    streamUsage: isObject(options) && options['include_usage'] === true,
    system: systems.join('\n'),
    users,
    rounds,
    ...(result === undefined ? {} : { lastResult: result }),
    tools: listOf(body['tools']).flatMap(toolName),
    messages: given.length,
    characters,
  };
};
