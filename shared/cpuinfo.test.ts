import { describe, expect, test } from 'bun:test';
import { cpuInfo } from './cpuinfo.ts';

describe('cpuinfo', () => {
  test('features stand in the order of the spec, unknown avx512 ones sorted before gfni', () => {
    const flags =
      'sve2 sve asimd popcnt bmi2 gfni avx512_zz avx512_aa avx512_bitalg avx512_vbmi2 avx512vbmi avx512vl avx512dq avx512cd avx512bw avx512f avx2 avx avx10 xavx512';
    expect(cpuInfo(`processor : 0\nflags : ${flags}\n`).features).toBe(
      'avx avx2 avx512f avx512bw avx512cd avx512dq avx512vl avx512vbmi avx512_vbmi2 avx512_bitalg avx512_aa avx512_zz gfni bmi2 popcnt asimd sve sve2',
    );
  });

  test('the first core counts, not the last', () => {
    const { model, features, parts } = cpuInfo(
      'processor\t: 0\nmodel name\t: A: with colon\nflags\t\t: avx\n\nprocessor\t: 1\nmodel name\t: B\nflags\t\t: avx avx2\n',
    );
    expect({ model, features, parts: parts.size }).toEqual({
      model: 'A: with colon',
      features: 'avx',
      parts: 0,
    });
  });

  test('nothing to read gives nothing', () => {
    expect(cpuInfo('')).toEqual({ model: '', features: '', parts: new Map() });
    expect(cpuInfo('Hardware\t: Board\n').model).toBe('');
  });
});
