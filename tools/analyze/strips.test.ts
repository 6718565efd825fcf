import { describe, expect, test } from 'bun:test';
import { generator } from '../../shared/evidence/random.ts';
import { strip, type Strips, withStrips } from './strips.ts';

describe('a strip', () => {
  test.each<[string, number[][], string]>([
    ['has the smallest first and the largest last', [[1], [100]], '▀   ▄'],
    ['is one of ratios where all are above 0', [[1, 10, 100], []], '▀ ▀ ▀'],
    ['is one of differences where any is not', [[-2, 0, 2], []], '▀ ▀ ▀'],
    [
      'shows where both are',
      [
        [1, 10],
        [10, 100],
      ],
      '▀ █ ▄',
    ],
    ['of equal values is one cell', [[7, 7], [7]], '█    '],
    ['of one target', [[1, 100]], '▀   ▀'],
    ['of nothing is empty', [[], []], ''],
  ])('%s', (_, targets, text) => expect(strip(targets, 5)).toBe(text));

  test('shows every sample in the order of their sizes: against counting cells one by one', () => {
    const random = generator(3);
    for (let at = 0; at < 200; at++) {
      const two = [0, 1].map(() => Array.from({ length: 12 }, () => 1 + Math.floor(1e6 * random())));
      const logs = two.map((one) => one.map(Math.log));
      const [low, high] = [Math.min(...logs.flat()), Math.max(...logs.flat())];
      const cells = Array.from({ length: 40 }, (_, cell) =>
        logs.map((one) => one.some((x) => Math.round((39 * (x - low)) / (high - low)) === cell)),
      );
      const glyphs = cells.map(([a, b]) => (a ? (b ? '█' : '▀') : b ? '▄' : ' '));
      expect(strip(two, 40)).toBe(glyphs.join(''));
    }
  });
});

describe('a table with strips', () => {
  const rows = [
    ['', 'p50'],
    ['warm', '2.0'],
    ['seed', '1.0'],
  ];
  const about = { turns: 50, targets: ['journal', 'sqlite'], metrics: ['warm', 'seedS'] };
  const strips = (columns: number): Strips => ({
    columns,
    targets: about.targets,
    values: new Map([
      [JSON.stringify([50, 'journal', 'warm']), [1, 2]],
      [JSON.stringify([50, 'sqlite', 'warm']), [4]],
    ]),
  });

  test('has them where there is room, and none for values that no sample has', () => {
    expect(withStrips(rows, strips(32), about)).toEqual([
      ['', 'p50', '▀ journal ▄ sqlite …'],
      ['warm', '2.0', '▀         ▀        ▄'],
      ['seed', '1.0', ''],
    ]);
  });

  test('is as it was in a narrow terminal, and where nobody looks', () => {
    expect(withStrips(rows, strips(31), about)).toEqual(rows);
    expect(withStrips(rows, undefined, about)).toEqual(rows);
  });
});
