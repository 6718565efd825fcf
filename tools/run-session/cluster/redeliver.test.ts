/** When a bundle is sent again: by a fake, as no server breaks in just these ways; streams that break are cut in test/cluster. */
import { expect, test } from 'bun:test';
import { ApiError, ConnectionError } from '../../../shared/kubernetes.ts';
import { redeliver } from './redeliver.ts';

const broken = new ConnectionError('it broke', { final: false, sent: true });
const away = new ConnectionError('nobody answers', { final: false, sent: false });
const untrusted = new ConnectionError('not trusted', { final: true, sent: false });
const answer = (code: number, detail = ''): ApiError => new ApiError(`${code}`, { code, reason: '', detail });
const noKubelet = answer(500, 'error dialing backend: dial tcp 10.0.0.1:10250: connect: connection refused');
const starting = answer(403, 'no RBAC policy matched');

/** Each request is met by the next word: an error, whether it is there, or a stream that arrives. */
const met = async (words: readonly (Error | boolean | 'sent')[], attaching = false) => {
  const left = [...words];
  const asked: string[] = [];
  const next = (what: string): boolean | 'sent' => {
    asked.push(what);
    const word = left.shift();
    if (word === undefined) throw new Error(`nothing is said to '${what}'`);
    if (word instanceof Error) throw word;
    return word;
  };
  const told: string[] = [];
  const talk = { info: () => undefined, warn: (text: string) => told.push(text) } as never;
  const ended = await redeliver({
    isThere: async () => next('there?') === true,
    send: async () => void next('send'),
    attaching,
    talk,
    signal: new AbortController().signal,
    pause_ms: 0,
  }).catch((error: unknown) => error);
  return { ended, asked: asked.join(' '), told, left: left.length };
};

test.each<[string, (Error | boolean | 'sent')[], boolean, unknown, string]>([
  ['sent at once', ['sent'], false, true, 'send'],
  ['an earlier runner has sent it', [true], true, false, 'there?'],
  ['it has not', [false, 'sent'], true, true, 'there? send'],
  ['a broken stream', [broken, false, 'sent'], false, true, 'send there? send'],
  ['one that arrived all the same', [broken, true], false, false, 'send there?'],
  [
    'a server that is away for more tries than streams have',
    [broken, ...Array.from({ length: 20 }, () => away), false, 'sent'],
    false,
    true,
    `send ${'there? '.repeat(21)}send`,
  ],
  [
    'one that has just started',
    [broken, starting, starting, false, 'sent'],
    false,
    true,
    `send ${'there? '.repeat(3)}send`,
  ],
  ['a kubelet that is away', [noKubelet, false, 'sent'], false, true, 'send there? send'],
  ['a refusal from the beginning', [starting], false, starting, 'send'],
  ['what can not pass', [untrusted], false, untrusted, 'send'],
  ['a command that fails', [answer(500, 'no such container')], false, expect.any(ApiError), 'send'],
  [
    'streams that break again and again',
    [broken, ...Array.from({ length: 5 }, () => [false, broken]).flat()],
    false,
    broken,
    `send ${'there? send '.repeat(5)}`.trim(),
  ],
])('%s', async (_, words, attaching, ended, asked) =>
  expect(await met(words, attaching)).toMatchObject({ ended, asked, left: 0 }),
);

test('each stream that is sent again is told, and a server that is away once', async () =>
  expect((await met([broken, away, away, false, 'sent'])).told).toEqual([
    'it broke; sending the bundle again',
    'nobody answers; waiting for it',
  ]));
