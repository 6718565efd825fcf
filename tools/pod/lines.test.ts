import { describe, expect, test } from 'bun:test';
import { SessionLog } from '../../shared/session-log.ts';
import { LineWriter, type Output } from './lines.ts';
import { SessionError } from './session-error.ts';

const never = new AbortController().signal;

/** Somewhere lines go, which can stop reading. */
const collector = (): Output & { texts: string[]; closed: boolean } => {
  const texts: string[] = [];
  const output = {
    texts,
    closed: false,
    write: async (text: string) => void (output.closed || texts.push(text)),
  };
  return output;
};

/** Whether the log's reader takes these lines for a whole session. */
const isComplete = (texts: readonly string[]): boolean => {
  const log = new SessionLog();
  for (const text of texts) log.feed(Buffer.from(text.slice(0, -1)));
  return log.state().complete;
};

describe('the log', () => {
  test('is accepted whole by its reader', async () => {
    const output = collector();
    const lines = new LineWriter(output, never);
    await lines.put('facts', { run: 'x' });
    await lines.put('cpu', { wallMs: 1.5, usageUsec: null, text: 'ä\u001b[31m\n\u2028"\ud800' });
    await lines.end();
    expect(output.texts.length).toBe(3);
    const log = new SessionLog();
    for (const text of output.texts) {
      expect(text.indexOf('\n')).toBe(text.length - 1);
      expect(text).not.toContain('\u001b');
      log.feed(Buffer.from(text.slice(0, -1)));
    }
    expect(log.state()).toMatchObject({ lines: 2, complete: true, problems: [], foreignLines: 0 });
  });

  test('a changed byte or a lost line is noticed by its reader', async () => {
    const output = collector();
    const lines = new LineWriter(output, never);
    await lines.put('facts', { run: 'x' });
    await lines.put('done', { seeds: 0 });
    await lines.end();
    expect(isComplete(output.texts)).toBe(true);
    expect(isComplete(output.texts.toSpliced(0, 1))).toBe(false);
    expect(isComplete([output.texts[0]!.replace('"x"', '"y"'), ...output.texts.slice(1)])).toBe(false);
  });

  test('a number that JSON would write as null is refused', async () => {
    const lines = new LineWriter(collector(), never);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      await expect(lines.put('cpu', { deep: [{ wallMs: value }] })).rejects.toThrow('wallMs');
  });

  test('a reader that is gone ends the session', async () => {
    const output = collector();
    const lines = new LineWriter(output, never);
    output.closed = true;
    await expect(lines.put('cpu', {})).rejects.toMatchObject({ code: 'reader-gone' });
  });

  test('a reader that stands still does not hold a session that was asked to stop', async () => {
    const stop = new AbortController();
    let writes = 0;
    const output: Output = { closed: false, write: () => new Promise(() => writes++) };
    const lines = new LineWriter(output, stop.signal, 20);
    const writing = lines.put('cpu', {});
    stop.abort(new SessionError('interrupted', 'stop'));
    await expect(writing).rejects.toMatchObject({ code: 'interrupted' });
    // Half a line may stand there: nothing can follow it.
    await expect(lines.end()).rejects.toMatchObject({ code: 'interrupted' });
    expect(writes).toBe(1);
  });
});
