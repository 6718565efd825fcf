import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunDirectory, runDirectory } from '../../../shared/rundir.ts';
import { PodLog } from './pod-log.ts';

let base: string;
beforeAll(() => void (base = mkdtempSync(join(tmpdir(), 'k8sbench-pod-log-'))));
afterAll(() => rmSync(base, { recursive: true }));
let runs = 0;
const newRun = (): RunDirectory => {
  const path = join(base, `r${++runs}`);
  mkdirSync(path);
  return runDirectory(path);
};

/** A log of n lines and its end. */
const logOf = (n: number): string => {
  const lines = Array.from(
    { length: n },
    (_, seq) => `${JSON.stringify({ t: seq === 0 ? 'facts' : 'sample', seq, x: 'y'.repeat(seq % 50) })}\n`,
  ).join('');
  const sha256 = createHash('sha256').update(lines).digest('hex');
  return `${lines}${JSON.stringify({ t: 'end', seq: n, lines: n, sha256 })}\n`;
};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('streams that break anywhere, and begin at the start again, give each line once', () => {
  const text = `noise before\n${logOf(30)}`;
  // Every cut: the first stream ends there, its runner perhaps killed; the second brings everything.
  for (let cut = 0; cut < text.length; cut += 7)
    for (const killed of [false, true]) {
      const run = newRun();
      const seen: number[] = [];
      let log = new PodLog(run, (line) => seen.push(line.seq));
      log.restart();
      log.take(bytes(text.slice(0, cut)));
      if (killed) {
        seen.splice(0);
        // What the killed one was just writing.
        appendFileSync(run.file('pod.log.partial'), '{"t":"sam');
        log = new PodLog(run, (line) => seen.push(line.seq));
      }
      log.restart();
      log.take(bytes(text));
      expect(log.ended).toBe(true);
      expect(log.state().problems).toEqual([]);
      log.close();
      expect(seen).toEqual(Array.from({ length: 31 }, (_, at) => at));
      const kept = readFileSync(run.file('pod.log'), 'utf8');
      // Noise before the first line may come twice, as nothing tells it apart; the session's lines never.
      expect(kept.replaceAll('noise before\n', '')).toBe(logOf(30));
    }
});

test('a log of thousands of lines is read again without a complaint', () => {
  const run = newRun();
  const text = logOf(9000);
  const log = new PodLog(run, () => undefined);
  log.take(bytes(text.slice(0, text.length / 2)));
  log.restart();
  log.take(bytes(text));
  expect(log.state()).toMatchObject({ complete: true, lines: 9000 });
  log.close();
});

test('lines that were rotated away are a gap until the whole log comes', () => {
  const run = newRun();
  const text = logOf(20);
  const lines = text.split('\n').map((line) => `${line}\n`);
  const log = new PodLog(run, () => undefined);
  log.take(bytes(lines.slice(0, 5).join('')));
  log.restart();
  log.take(bytes(lines.slice(12, 21).join('')));
  expect([log.ended, log.gaps, log.next]).toEqual([true, [{ from: 5, to: 11 }], 5]);
  expect(log.state().complete).toBe(false);
  const why = 'the node rotated them away before they were read';
  expect(log.state().problems).toEqual([`lines are missing: seq 5–11; ${why}`]);
  log.restart();
  log.take(bytes(text));
  expect(log.state()).toMatchObject({ complete: true, lines: 20 });
  log.close();
});

test.each<[string, number[], string[]]>([
  ['every gap is told', [12, 13, 15, 16, 19, 20], ['seq 5–11, 14, 17–18']],
  ['and where it breaks off', [12, 13, 15], ['seq 5–11, 14', 'it ends after seq 15, without its end line']],
  ['also when nothing else is there', [19], ['seq 5–18', 'it ends after seq 19, without its end line']],
  ['lines that come again are none', [12, 12, 13, 14, 13, 15, 16, 17, 18, 19, 20], ['seq 5–11']],
])('lines that were rotated away, %s', (_, shown, problems) => {
  const lines = logOf(20)
    .split('\n')
    .map((line) => `${line}\n`);
  const log = new PodLog(newRun(), () => undefined);
  log.take(bytes(lines.slice(0, 5).join('')));
  log.restart();
  // From its own lines on, again, and then what is left of it.
  log.take(bytes([...lines.slice(0, 5), ...shown.map((seq) => lines[seq]!)].join('')));
  const [first, ...rest] = log.state().problems;
  expect([log.state().complete, first?.replace(/^lines are missing: |;.*/g, ''), ...rest]).toEqual([
    false,
    ...problems,
  ]);
  log.close();
});

/** Which lines of the session a file holds. */
const seqsIn = (run: RunDirectory, name: string): number[] =>
  run.has(name)
    ? readFileSync(run.file(name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).seq as number)
    : [];

test('every line that a stream showed is in one of the two files once, whichever were shown, also to a runner that was killed', () => {
  const all = logOf(20).match(/.*\n/g)!;
  // An obvious generator with a seed: which lines a stream shows.
  let seed = 1;
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 200; round++) {
    const run = newRun();
    const streams = Array.from({ length: 3 }, () => all.filter(() => random() < 0.8));
    let log = new PodLog(run, () => undefined);
    for (const shown of streams) {
      log.begin();
      log.take(bytes(shown.join('')));
      if (random() < 0.5) continue;
      if (run.has('pod.log.rest')) appendFileSync(run.file('pod.log.rest'), '{"t":"sample","seq":1');
      log = new PodLog(run, () => undefined);
    }
    const { complete, problems } = log.state();
    log.close();
    const taken = seqsIn(run, complete ? 'pod.log' : 'pod.log.partial');
    const rest = seqsIn(run, 'pod.log.rest');
    const seen = new Set(streams.flat().map((line) => all.indexOf(line)));
    const once = (seqs: number[]): number[] => [...new Set(seqs)].toSorted((a, b) => a - b);
    expect(taken).toEqual(Array.from(taken, (_, at) => at));
    expect(rest.length).toBe(new Set(rest).size);
    // What was taken after it had come beyond a gap stands in both, as long as there is a rest.
    expect(once([...taken, ...rest])).toEqual(once([...seen]));
    const last = Math.max(...seen);
    const missing = Array.from({ length: last }, (_, seq) => seq).filter((seq) => !seen.has(seq));
    const named = (problems[0] ?? '').replace(/^lines are missing: seq |;.*/g, '').match(/[\d–]+/g) ?? [];
    if (missing.length > 0)
      expect(
        named.flatMap((one) => {
          const [from, to = from] = one.split('–').map(Number);
          return Array.from({ length: to! - from! + 1 }, (_, at) => from! + at);
        }),
      ).toEqual(missing);
  }
});

test('the lines beyond a gap go once the whole log is there', () => {
  const run = newRun();
  const all = logOf(20).match(/.*\n/g)!;
  const log = new PodLog(run, () => undefined);
  log.take(bytes(all.slice(12).join('')));
  expect(seqsIn(run, 'pod.log.rest')).toEqual([12, 13, 14, 15, 16, 17, 18, 19, 20]);
  log.restart();
  log.take(bytes(all.join('')));
  log.close();
  expect([run.has('pod.log'), run.has('pod.log.rest')]).toEqual([true, false]);
});

test('what comes once it is closed goes nowhere, least of all into another file', () => {
  const run = newRun();
  const log = new PodLog(run, () => undefined);
  const [first, ...rest] = logOf(3).split(/(?<=\n)/);
  log.take(bytes(first!));
  log.close();
  const other = run.file('other');
  const fd = openSync(other, 'w');
  log.take(bytes(rest.join('')));
  closeSync(fd);
  expect([readFileSync(other, 'utf8'), readFileSync(run.file('pod.log.partial'), 'utf8')]).toEqual([
    '',
    first!,
  ]);
});

test('nothing leaves no file; what is not whole stays partial', () => {
  const [none, half] = [newRun(), newRun()];
  new PodLog(none, () => undefined).close();
  expect(existsSync(none.file('pod.log.partial'))).toBe(false);
  const log = new PodLog(half, () => undefined);
  log.take(bytes(`${logOf(3).split('\n')[0]}\nout of luck\n`));
  log.close();
  expect([half.has('pod.log'), half.has('pod.log.partial'), log.tail]).toEqual([
    false,
    true,
    ['out of luck'],
  ]);
});
