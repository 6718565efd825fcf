import { describe, expect, test } from 'bun:test';
import { allowedListOf, formatCpuList, parseCpuList } from './cpu-list.ts';

describe('CPU lists', () => {
  const LISTS: [string, number[] | undefined][] = [
    ['0', [0]],
    ['0-3', [0, 1, 2, 3]],
    ['0-1,4', [0, 1, 4]],
    ['4,0-1\n', [0, 1, 4]],
    ['1,1,0-1', [0, 1]],
    ['', []],
    ['\n', []],
    ['3-1', undefined],
    ['0-', undefined],
    ['-1', undefined],
    ['a', undefined],
    ['0-7:2', undefined],
    ['0,,1', undefined],
    ['0x1', undefined],
    ['1e2', undefined],
    ['123456', undefined],
  ];
  for (const [text, cpus] of LISTS)
    test(`'${text.trim()}'`, () => expect(parseCpuList(text)).toEqual(cpus as number[]));

  test('what is formatted reads the same again, and is as short as the kernel writes it', () => {
    let state = 7;
    const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;
    for (let run = 0; run < 300; run++) {
      const cpus = Array.from({ length: 12 }, (_, cpu) => cpu).filter(() => random(2) === 1);
      const text = formatCpuList(cpus);
      expect(parseCpuList(text)).toEqual(cpus);
      // No two ranges could be one.
      const ranges = text.split(',').map((one) => one.split('-').map(Number));
      for (const [at, [from]] of ranges.entries())
        if (at > 0) expect(from!).toBeGreaterThan(ranges[at - 1]!.at(-1)! + 1);
    }
  });

  test('the allowed list of a status text', () => {
    expect(allowedListOf('Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed:\t1\n')).toBe(
      '0-1',
    );
    expect(allowedListOf('Name:\tCpus_allowed_list:\t9\n')).toBeUndefined();
    expect(allowedListOf(undefined)).toBeUndefined();
    expect(allowedListOf(null)).toBeUndefined();
  });
});
