import { describe, expect, test } from 'bun:test';
import * as v from 'valibot';
import { sample, seed } from '../../schemas/log.ts';
import type { Metric } from '../../schemas/profile.ts';
import { impossibleTimes, sampleFields, seedFields } from './workload-line.ts';

const GOOD = '{"open":1.5,"turn":[2,0,3e2]}';
const wrongOf = (stdout: string): string | undefined => {
  const handed = sampleFields(stdout);
  return 'wrong' in handed ? handed.wrong : undefined;
};

/** Lines of workloads: what is wrong with them, or undefined. */
const LINES: [string, string, string | undefined][] = [
  ['as wanted', GOOD, undefined],
  ['with a newline', `${GOOD}\n`, undefined],
  ['with blank lines', `\n${GOOD}\n\n`, undefined],
  [
    'all that may be there',
    '{"open":1,"turn":[1],"openCpu":0,"turnCpu":[1],"bytes":7,"peakRss":1.5,"retained":0,"growthPerTurn":-3,"cpuSeconds":1,"rss":2,"fingerprint":"x"}',
    undefined,
  ],
  [
    'nulls are not measured',
    '{"open":1,"turn":[1],"openCpu":null,"turnCpu":null,"peakRss":null,"fingerprint":null}',
    undefined,
  ],
  ['nothing', '', 'printed nothing'],
  ['only a newline', '\n', 'printed nothing'],
  ['two lines', `${GOOD}\n${GOOD}\n`, 'printed 2 lines'],
  ['a word before it', `hello\n${GOOD}\n`, 'printed 2 lines'],
  ['rubbish', 'Segmentation fault', 'no JSON object'],
  ['NaN', '{"open":NaN,"turn":[1]}', 'no JSON object'],
  ['Infinity', '{"open":Infinity,"turn":[1]}', 'no JSON object'],
  ['a list', '[1,2]', 'no JSON object'],
  ['a number', '5', 'no JSON object'],
  ['null', 'null', 'no JSON object'],
  ['half an object', '{"open":1,"turn":[1', 'no JSON object'],
  ['a number out of range', '{"open":1e999,"turn":[1]}', 'open: expected a finite number'],
  [
    'one hidden deep inside',
    '{"open":1,"turn":[1],"x":{"y":[0,-1e999]}}',
    'x.y[1]: expected a finite number',
  ],
  ['no open', '{"turn":[1]}', 'open: expected a finite number ≥ 0, at most 1e18, found nothing'],
  ['the largest', '{"open":1e18,"turn":[1e18],"bytes":1e18,"growthPerTurn":-1e18}', undefined],
  ['an open beyond', '{"open":1.1e18,"turn":[1]}', 'open: expected'],
  ['a turn beyond', '{"open":1,"turn":[1e19]}', 'turn[0]: expected'],
  ['bytes beyond', '{"open":1,"turn":[1],"bytes":1e19}', 'bytes: expected'],
  ['a growth beyond', '{"open":1,"turn":[1],"growthPerTurn":-1e19}', 'growthPerTurn: expected'],
  ['open as text', '{"open":"1","turn":[1]}', 'open: expected'],
  ['open below 0', '{"open":-1,"turn":[1]}', 'open: expected'],
  ['no turn', '{"open":1}', 'turn: expected'],
  ['turn without times', '{"open":1,"turn":[]}', 'turn: expected'],
  ['turn as number', '{"open":1,"turn":3}', 'turn: expected'],
  ['a turn that is null', '{"open":1,"turn":[1,null]}', 'turn[1]: expected'],
  ['a turn below 0', '{"open":1,"turn":[1,2,-0.1]}', 'turn[2]: expected'],
  ['turnCpu as text', '{"open":1,"turn":[1],"turnCpu":"x"}', 'turnCpu: expected'],
  ['turnCpu below 0', '{"open":1,"turn":[1],"turnCpu":[-1]}', 'turnCpu[0]: expected'],
  ['peakRss as text', '{"open":1,"turn":[1],"peakRss":"3MB"}', 'peakRss: expected'],
  ['growthPerTurn as text', '{"open":1,"turn":[1],"growthPerTurn":"x"}', 'growthPerTurn: expected'],
  ['an empty fingerprint', '{"open":1,"turn":[1],"fingerprint":""}', 'fingerprint: expected'],
  [
    'nested without end',
    `{"open":1,"turn":[1],"x":${'['.repeat(5000)}${']'.repeat(5000)}}`,
    'at most 64 levels',
  ],
];

const machine = { gomaxprocs: 1, cpuModel: 'm', cpuFeatures: '' };

describe('a sample line', () => {
  for (const [name, stdout, wrong] of LINES)
    test(name, () => {
      if (wrong === undefined) expect(wrongOf(stdout)).toBeUndefined();
      else expect(wrongOf(stdout)).toContain(wrong);
    });

  test('is accepted exactly when the format accepts it', () => {
    for (const [name, stdout] of LINES) {
      let parsed: unknown;
      try {
        parsed = JSON.parse(stdout);
      } catch {
        continue;
      }
      // The format itself does not look into foreign fields.
      if (typeof parsed !== 'object' || Array.isArray(parsed) || parsed === null || 'x' in parsed) continue;
      const line = { t: 'sample', seq: 0, target: 'a', turns: 1, sample: 0, ...machine, ...parsed };
      expect([name, v.is(sample, line)]).toEqual([name, wrongOf(stdout) === undefined]);
    }
  });

  test("the session's own names move to bench_*, everything else is kept", () => {
    const handed = sampleFields(
      '{"t":"x","seq":9,"target":"w","turns":"many","sample":7,"open":1,"turn":[1],"gomaxprocs":64,"cpuModel":"c","cpuFeatures":"f","other":{"a":[1]}}',
    );
    expect(handed).toEqual({
      fields: {
        bench_t: 'x',
        bench_seq: 9,
        bench_target: 'w',
        bench_turns: 'many',
        bench_sample: 7,
        open: 1,
        turn: [1],
        bench_gomaxprocs: 64,
        bench_cpuModel: 'c',
        bench_cpuFeatures: 'f',
        other: { a: [1] },
      },
    });
  });

  describe("the profile's own metrics", () => {
    const metric = (more: Partial<Metric>): Metric => ({
      key: 'mine',
      unit: '1',
      better: 'lower',
      gated: false,
      pooled: false,
      signed: false,
      ...more,
    });
    test.each<[string, Partial<Metric>, unknown, boolean]>([
      ['a number', {}, 3, true],
      ['not measured', {}, null, true],
      ['absent', {}, undefined, true],
      ['a text', {}, 'x', false],
      ['below 0', {}, -1, false],
      ['below 0 where it may be', { signed: true }, -1, true],
      ['beyond', { signed: true }, -1e19, false],
      ['a list where one is wanted', {}, [1], false],
      ['a list', { pooled: true }, [1, 0], true],
      ['a number where a list is wanted', { pooled: true }, 1, false],
      ['a list with a text', { pooled: true }, [1, '2'], false],
      ['a list below 0', { pooled: true }, [-1], false],
    ])('%s', (_, more, value, good) => {
      const handed = sampleFields(JSON.stringify({ open: 1, turn: [1], mine: value }), [metric(more)]);
      if (good) expect(handed).toHaveProperty('fields');
      else expect(handed).toEqual({ wrong: expect.stringContaining('printed mine: expected') });
    });
  });

  test('open and turns fit into the life of the process', () => {
    expect(impossibleTimes({ open: 1, turn: [2, 3] }, 6)).toBeUndefined();
    expect(impossibleTimes({ open: 1, turn: [2, 3] }, 5.9995)).toBeUndefined();
    expect(impossibleTimes({ open: 1, turn: [2, 3] }, 5.998)).toContain('lived only 5.998 ms');
    expect(impossibleTimes({ open: Number.NaN, turn: [1] }, 5)).toBeDefined();
  });

  test('long foreign text is cut in the message', () => {
    expect(wrongOf('x'.repeat(1e6))!.length).toBeLessThan(200);
  });
});

describe('a seed file', () => {
  const FILES: [string, string | undefined][] = [
    ['{"seedMs":12.5,"fingerprint":"abc","bytes":5}', undefined],
    ['{"seedMs":0,"fingerprint":"abc"}', undefined],
    ['{"seedMs":12.5,"bytes":5}', 'fingerprint: expected'],
    ['{"seedMs":12.5,"fingerprint":"","bytes":5}', 'fingerprint: expected'],
    ['{"fingerprint":"abc","bytes":5}', 'seedMs: expected'],
    ['{"seedMs":-1,"fingerprint":"abc"}', 'seedMs: expected'],
    ['{"seedMs":1e999,"fingerprint":"abc"}', 'seedMs: expected'],
    ['{"seedMs":1,"fingerprint":"abc","bytes":-5}', 'bytes: expected'],
    ['{"seedMs":1e19,"fingerprint":"abc"}', 'seedMs: expected'],
    ['{"seedMs":1,"fingerprint":"abc","bytes":1e19}', 'bytes: expected'],
    ['', 'no JSON object'],
    ['[]', 'no JSON object'],
  ];
  for (const [text, wrong] of FILES)
    test(text || 'empty', () => {
      const handed = seedFields(text, '/d/seed.json');
      if (wrong !== undefined) expect(handed).toEqual({ wrong: expect.stringContaining(wrong) });
      else
        expect(
          v.is(seed, {
            t: 'seed',
            seq: 0,
            target: 'a',
            turns: 1,
            ...('fields' in handed ? handed.fields : {}),
            from: 'empty',
            ...machine,
          }),
        ).toBe(true);
    });

  test('its own target and origin move to bench_*', () => {
    expect(seedFields('{"target":"w","from":"copy","seedMs":1,"fingerprint":"f"}', 'x')).toEqual({
      fields: { bench_target: 'w', bench_from: 'copy', seedMs: 1, fingerprint: 'f' },
    });
  });
});
