import { afterAll, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../../shared/statistics.ts';
import { runName } from '../../shared/history-words.ts';
import { readHistory } from './history.ts';
import { Rolling } from './rolling.ts';
import { countedEntries } from './counted-entries.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-history-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let made = 0;
const file = (content: string): string => {
  const path = join(scratch, `${made++}.jsonl`);
  writeFileSync(path, content);
  return path;
};
const all = () => true;
const read = (content: string) => readHistory(file(content), 'track.jsonl', all);
const random = (seed: number) => () => {
  seed = (seed * 48271) % 2147483647;
  return seed / 2147483647;
};
const iso = (at: number): string => new Date(at).toISOString();
const line = (more: object = {}) => ({
  at: '2026-01-02T03:04:05.000Z',
  rule: 'store',
  turns: 50,
  run: 'r',
  values: { piWarm: 1 },
  ...more,
});

test.each([
  ['a', 'a'],
  ['out/a', 'a'],
  ['/x/out/a/', 'a'],
])("the run of '%s' is '%s'", (written, name) => expect(runName(written)).toBe(name));

describe('lines', () => {
  test.each<[string, string]>([
    ['as we write them', JSON.stringify(line())],
    [
      'with blanks',
      JSON.stringify(line())
        .replaceAll(/([:,])/g, '$1 ')
        .replace('03: 04: 05', '03:04:05'),
    ],
    ['with other keys first', JSON.stringify({ note: 'x', warmTurns: 3, ...line() })],
    ['in another order', JSON.stringify({ values: {}, run: 'r', turns: 50, rule: 'store', at: line().at })],
    ['with a long text before', JSON.stringify({ note: 'y'.repeat(1000), ...line() })],
    ['with escapes', JSON.stringify({ note: '"turns":7,"run":"z"', ...line() })],
    [
      'with a nested look-alike',
      JSON.stringify({ old: { at: 'x', rule: 'no', turns: 9, run: 'no' }, ...line() }),
    ],
    ['with a carriage return', `${JSON.stringify(line())}\r`],
    ['without its newline', JSON.stringify(line())],
  ])('%s are read', (_, text) => {
    const history = read(`${text}${_.includes('without') ? '' : '\n'}`);
    expect(history.broken).toEqual([]);
    expect(history.entries).toMatchObject([
      { rule: 'store', turns: 50, run: 'r', at: Date.parse(line().at), number: 1 },
    ]);
  });

  test('of other languages, with fractions of times, are read', () => {
    const history = read(
      `${JSON.stringify(line({ rule: 'größe', run: 'läuft', at: '2026-01-02T03:04:05Z' }))}\n${JSON.stringify(line({ at: '2026-01-02T03:04:05.123456Z' }))}\n`,
    );
    expect(history.entries.map((one) => [one.rule, one.run])).toEqual([
      ['größe', 'läuft'],
      ['store', 'r'],
    ]);
  });

  test('that are broken are named and left out; empty ones are nothing', () => {
    const history = read(
      [
        JSON.stringify(line()),
        '',
        '{"at":"2026-01-02T03:04:05.000Z","rule":"store","tu',
        'hello',
        JSON.stringify(line({ turns: 0 })),
        JSON.stringify(line({ at: 'yesterday' })),
        JSON.stringify(line({ at: '2026-99-02T03:04:05.000Z' })),
        JSON.stringify({ ...line(), run: undefined }),
        '[]',
        JSON.stringify(line({ run: 's' })),
      ].join('\n'),
    );
    expect(history.entries.map((one) => [one.number, one.run])).toEqual([
      [1, 'r'],
      [10, 's'],
    ]);
    expect(history.broken.map((one) => one.split(': ').slice(0, 2).join(': '))).toEqual([
      'track.jsonl:3: not a whole JSON line',
      'track.jsonl:4: not a whole JSON line',
      'track.jsonl:5: turns',
      'track.jsonl:6: at',
      'track.jsonl:7: at',
      'track.jsonl:8: run',
      'track.jsonl:9: at',
    ]);
  });

  test('longer than a block, on both sides of its end, are found where they are', () => {
    const many = Array.from({ length: 60 }, (_, at) =>
      JSON.stringify(line({ run: `r${at}`, note: 'z'.repeat(at === 7 ? 9_000_000 : 200_000) })),
    );
    const path = file(`${many.join('\n')}\n`);
    const history = readHistory(path, 'x', all);
    expect(history.entries.map((one) => one.run)).toEqual(many.map((_, at) => `r${at}`));
    let offset = 0;
    for (const [at, entry] of history.entries.entries()) {
      expect([entry.offset, entry.length]).toEqual([offset, many[at]!.length]);
      offset += many[at]!.length + 1;
    }
  });

  test('without end are named and left out, and never held in memory', () => {
    const path = file('');
    const long = Buffer.alloc(40 << 20, 'x');
    const half = long.subarray(0, 17 << 20);
    const lines = [JSON.stringify(line({ run: 'a' })), half, JSON.stringify(line({ run: 'b' })), long];
    for (const [at, one] of lines.entries())
      appendFileSync(path, at === 0 ? one : Buffer.concat([Buffer.from('\n'), Buffer.from(one)]));
    const before = process.memoryUsage.rss();
    const history = readHistory(path, 'track.jsonl', all);
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 << 20);
    expect(history.entries).toMatchObject([
      { run: 'a', number: 1, offset: 0 },
      { run: 'b', number: 3, offset: lines[0]!.length + half.length + 2, length: lines[2]!.length },
    ]);
    expect(history.broken).toEqual(
      [2, 4].map((at) => `track.jsonl:${at}: a line of 16 MiB or more is no tracker line`),
    );
    writeFileSync(path, long);
    expect(() => readHistory(path, 'track.jsonl', all)).toThrow("'track.jsonl' holds no tracker line");
  });

  test('a file without any is not a history; no file is one that may miss', () => {
    expect(() => read('dear diary\nnothing happened\n')).toThrow("'track.jsonl' holds no tracker line");
    expect(read('').entries).toEqual([]);
    expect(readHistory(join(scratch, 'gone'), 'gone', all, true).entries).toEqual([]);
    expect(() => readHistory(join(scratch, 'gone'), 'gone', all)).toThrow();
  });
});

describe('the rolling median', () => {
  interface Row {
    at: number;
    rule: string;
    turns: number;
    run: string;
    values: Record<string, number>;
  }
  /** The rule, word by word, on whole lists. */
  const twin = (files: readonly Row[][], own: Omit<Row, 'at'>, key: string): { value: number; n: number } => {
    const rows = files
      .flat()
      .filter(
        (one) => one.rule === own.rule && one.turns === own.turns && runName(one.run) !== runName(own.run),
      )
      .map((one, order) => Object.assign({ order }, one))
      .toSorted((a, b) => a.at - b.at || a.order - b.order);
    const newest = rows.filter(
      (one, at) => !rows.slice(at + 1).some((later) => runName(later.run) === runName(one.run)),
    );
    const past = newest.map((one) => one.values[key]).filter((one) => one !== undefined);
    const four = past.slice(-4);
    return { value: median([...four, own.values[key]!]), n: four.length + 1 };
  };

  test('agrees with the rule on histories of every kind', () => {
    const next = random(23);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
    for (let run = 0; run < 150; run++) {
      const files = Array.from({ length: 1 + Math.floor(next() * 2) }, () =>
        Array.from({ length: Math.floor(next() * 25) }, (): Row => ({
          at: Math.floor(next() * 12) * 1000,
          rule: pick(['store', 'store', 'other']),
          turns: pick([50, 50, 500]),
          run: `${pick(['', 'out/'])}r${Math.floor(next() * 9)}`,
          values: Object.fromEntries(
            ['piWarm', 'piCold']
              .filter(() => next() < 0.8)
              .map((key) => [key, Math.round(next() * 100) / 10 - 1]),
          ),
        })),
      );
      const own = { rule: 'store', turns: 50, run: 'r0', values: { piWarm: 5, piCold: 6 } };
      const histories = files.map((rows) =>
        readHistory(
          file(rows.map((one) => `${JSON.stringify({ ...one, at: iso(one.at) })}\n`).join('')),
          'x',
          all,
        ),
      );
      const rolling = new Rolling(histories, own.rule, own.turns, own.run);
      rolling.prepare(['piWarm', 'piCold']);
      for (const key of ['piWarm', 'piCold'] as const)
        expect(rolling.median(key, own.values[key])).toEqual(twin(files, own, key));
      expect(rolling.broken).toEqual([]);
    }
  });

  test('goes on past lines that turn out broken, values that are no numbers, and names each', () => {
    const rows = [
      JSON.stringify(line({ run: 'a', at: iso(1000), values: { piWarm: 3 } })),
      `${JSON.stringify(line({ run: 'b', at: iso(2000) })).slice(0, -1)},"piWarm":}`,
      JSON.stringify(line({ run: 'c', at: iso(3000), values: { piWarm: 'many' } })),
      JSON.stringify(line({ run: 'd', at: iso(4000), values: { piWarm: null, other: 1 } })),
      JSON.stringify(line({ run: 'e', at: iso(5000), values: { piWarm: 7 } })),
    ];
    const rolling = new Rolling([read(rows.join('\n'))], 'store', 50, 'own');
    rolling.prepare(['piWarm']);
    expect(rolling.median('piWarm', 8)).toEqual({ value: 7, n: 3 });
    expect(rolling.broken).toEqual(['track.jsonl:2: not a whole JSON line']);
  });

  test('reads no further than it must', () => {
    const rows = Array.from({ length: 50 }, (_, at) =>
      at < 40
        ? `${JSON.stringify(line({ run: `r${at}`, at: iso(at * 1000) })).slice(0, -1)},"piWarm":}`
        : JSON.stringify(line({ run: `r${at}`, at: iso(at * 1000), values: { piWarm: at } })),
    );
    const rolling = new Rolling([read(rows.join('\n'))], 'store', 50, 'own');
    rolling.prepare(['piWarm']);
    expect(rolling.median('piWarm', 100)).toEqual({ value: 48, n: 5 });
    expect(rolling.broken).toEqual([]);
  });
});

test('a run reported again counts by its newest line, also for show', () => {
  const rows = [
    line({ run: 'a', at: iso(5000) }),
    line({ run: 'b', at: iso(1000) }),
    line({ run: 'out/a', at: iso(2000) }),
    line({ run: 'b', at: iso(1000), turns: 500 }),
    line({ run: 'b', at: iso(1000) }),
  ];
  const history = read(rows.map((one) => JSON.stringify(one)).join('\n'));
  expect(countedEntries(history.entries).map((one) => one.number)).toEqual([4, 5, 1]);
});
