import { afterAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { madeLog, sealed } from '../test/made-log.ts';
import { partsOfFile } from './input-file.ts';
import { blocksOf, linesOf } from './line-blocks.ts';
import { type LogState, SessionLog } from './session-log.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-log-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const stateOf = (text: string, repeats: 'skip' | 'refuse' = 'refuse'): LogState => {
  const log = new SessionLog({ repeats });
  log.feedBlock(bytes(text), () => undefined);
  return log.state();
};
const whole = madeLog({ rounds: 3 });
const lines = whole.trimEnd().split('\n');
const without = (...gone: number[]): string => lines.filter((_, at) => !gone.includes(at)).join('\n') + '\n';
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const cut = async function* (text: string, sizes: () => number): AsyncGenerator<Uint8Array> {
  const all = bytes(text);
  const reused = new Uint8Array(64);
  for (let from = 0; from < all.length;) {
    const size = Math.min(1 + Math.floor(sizes() * 60), all.length - from);
    // One buffer for all parts, as a file is read.
    reused.set(all.subarray(from, from + size));
    yield reused.subarray(0, size);
    from += size;
  }
};

const random = (seed: number) => () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};

describe('a whole log', () => {
  test('is complete, and its digests are those of its text', () => {
    const state = stateOf(whole);
    expect(state).toMatchObject({ complete: true, problems: [], foreignLines: 0, ended: true });
    expect(state.lines).toBe(lines.length - 1);
    expect(state.sha256).toBe(digest(`${lines.slice(0, -1).join('\n')}\n`));
    expect(state.fileSha256).toBe(digest(whole));
  });

  test('stays so with noise of others in it, which is counted', () => {
    const noise = [
      'warning: x',
      '{"level":"info"}',
      '',
      '[1]',
      '{"t":"x"}',
      '{"t":1,"seq":3}',
      '{broken',
      '{"t":"x","seq":-1}',
    ];
    const text = lines.flatMap((line, at) => [line, noise[at % noise.length]!]).join('\n');
    const state = stateOf(text);
    expect(state.complete).toBe(true);
    expect(state.foreignLines).toBe(lines.filter((_, at) => noise[at % noise.length] !== '').length);
    expect(state.sha256).toBe(stateOf(whole).sha256);
    expect(state.fileSha256).toBe(digest(text));
  });

  test('may hold any text', () => {
    const text = sealed([{ t: 'facts', name: 'ä 日本 👍 \u2028' }, { t: 'x' }]);
    expect(stateOf(text).complete).toBe(true);
    expect(stateOf(text).fileSha256).toBe(digest(text));
  });

  test('may lack its last newline', () => {
    const text = whole.trimEnd();
    expect(stateOf(text).complete).toBe(true);
    expect(stateOf(text).fileSha256).toBe(digest(text));
  });
});

describe('a log that is not whole says what is wrong', () => {
  const altered = lines.map((line, at) => (at === 4 ? line.replace('"turns":50', '"turns":51') : line));
  test.each<[string, string, string]>([
    ['nothing', '', 'no line of a session in it'],
    ['only noise', 'hello\n', 'no line of a session in it'],
    ['a line missing', without(5), 'lines are missing: seq 5'],
    ['lines missing', without(0, 3, 7, 8, 9), 'lines are missing: seq 0, 3, 7–9'],
    [
      'the end missing',
      without(lines.length - 1),
      `it ends after seq ${lines.length - 2}, without its end line`,
    ],
    ['cut in a line', whole.slice(0, -200), `without its end line`],
    ['altered', `${altered.join('\n')}\n`, 'its text was altered'],
    ['a line twice', `${lines.slice(0, 5).join('\n')}\n${whole}`, 'seq 0 stands twice'],
    ['another log after it', whole + whole, 'a line with seq 0 stands after the end line'],
    [
      'a wrong count',
      `${without(lines.length - 1)}${lines.at(-1)!.replace(/"lines":\d+/, '"lines":3')}\n`,
      'the end line counts 3 lines',
    ],
  ])('%s', (_, text, says) => {
    const state = stateOf(text);
    expect(state.complete).toBe(false);
    expect(state.problems.join('\n')).toContain(says);
    expect(state.fileSha256).toBe(digest(text));
  });

  test('many gaps are counted, not listed', () => {
    const holes = Array.from({ length: 100 }, (_, at) => `{"t":"x","seq":${2 * at + 1}}\n`).join('');
    expect(stateOf(holes).problems[0]).toEndWith(', and 80 more gaps');
  });

  test('a start-up that failed is no session', () =>
    expect(stateOf('{"t":"error","message":"no bundle"}\n')).toMatchObject({
      complete: false,
      startupError: 'no bundle',
    }));
});

describe('a resumed stream', () => {
  const resumed = [...lines.slice(0, 9), ...lines.slice(4)];
  test('may bring lines again', () => {
    const log = new SessionLog();
    expect(resumed.map((one) => log.feed(bytes(one))?.seq).filter((one) => one !== undefined)).toEqual(
      lines.map((_, at) => at),
    );
    expect(log.state().complete).toBe(true);
    expect(log.feed(bytes(lines.at(-1)!))).toBeUndefined();
    expect(log.state()).toMatchObject({ complete: true, foreignLines: 0 });
  });

  test('but not others under the same number', () => {
    const changed = resumed.map((one, at) => (at === 9 ? one.replace('"turns":50', '"turns":51') : one));
    expect(stateOf(`${changed.join('\n')}\n`, 'skip').problems).toEqual([
      'seq 4 stands twice with different text',
    ]);
  });

  test('nor lines of long ago, which nobody remembers', () => {
    const log = new SessionLog();
    for (let seq = 0; seq < 5000; seq++) log.feed(bytes(`{"t":"x","seq":${seq}}`));
    log.feed(bytes('{"t":"x","seq":4000}'));
    expect(log.state().problems.join()).not.toContain('twice');
    log.feed(bytes('{"t":"x","seq":7}'));
    expect(log.state().problems.join()).toContain('seq 7 stands twice');
  });
});

describe('streams', () => {
  test('are the same lines, wherever they are cut', async () => {
    const text = `${whole}\n\nx\n${'y'.repeat(300)}\nä`;
    for (let seed = 1; seed < 60; seed++) {
      const found: string[] = [];
      for await (const line of linesOf(cut(text, random(seed)))) found.push(Buffer.from(line).toString());
      expect(found).toEqual(text.split('\n'));
      const log = new SessionLog({ repeats: 'refuse' });
      const blocks: string[] = [];
      for await (const block of blocksOf(cut(text, random(seed)))) {
        blocks.push(block.toString());
        log.feedBlock(block, () => undefined);
      }
      expect(blocks.join('')).toBe(text);
      expect(blocks.slice(0, -1).every((one) => one.endsWith('\n'))).toBe(true);
      expect(log.state()).toMatchObject({ complete: true, fileSha256: digest(text) });
    }
  });

  test('a line longer than any of a session is foreign, and its end is found', async () => {
    const found: string[] = [];
    for await (const block of blocksOf(cut(`a\n${'b'.repeat(500)}\nc\n${'d'.repeat(500)}`, random(7)), 100))
      found.push(block.toString());
    expect(found.join('')).toBe('a\n\0\nc\n\0');
  });

  test('a file is read part by part', async () => {
    const path = join(scratch, 'pod.log');
    writeFileSync(path, whole);
    const log = new SessionLog({ repeats: 'refuse' });
    for await (const block of blocksOf(partsOfFile(path, 1000))) log.feedBlock(block, () => undefined);
    expect(log.state()).toMatchObject({ complete: true, fileSha256: digest(whole) });
    await expect(partsOfFile(join(scratch, 'missing')).next()).rejects.toThrow('it does not exist');
  });
});
