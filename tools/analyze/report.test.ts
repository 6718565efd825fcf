import { describe, expect, test } from 'bun:test';
import type { Analysis } from '../../schemas/analysis.ts';
import { shortNumber } from '../../shared/analysis-words.ts';
import { generator } from '../../shared/evidence/random.ts';
import { painter } from '../../shared/terminal.ts';
import { type Made, madeLog, TARGETS } from '../../test/made-log.ts';
import { runTool } from '../../test/outside.ts';
import { main } from './main.ts';
import { reportText } from './report.ts';

const analyzed = async (made: Partial<Made> = {}): Promise<Analysis> => {
  const { stdout } = await runTool(main, ['--log', '-', '--json'], { stdin: madeLog(made) });
  return JSON.parse(stdout) as Analysis;
};

test.each([
  [0.01234, '0.012'],
  [1.2345, '1.23'],
  [-12.345, '-12.3'],
  [1234.5, '1235'],
  [12345678, '1.235e+7'],
])('%d is shown as %s', (value, text) => expect(shortNumber(value)).toBe(text));

describe('the report', () => {
  test('is plain without colours, and the same text with them', async () => {
    const analysis = await analyzed();
    const plain = reportText(analysis, undefined, painter(false));
    const painted = reportText(analysis, undefined, painter(true));
    expect(plain).not.toContain('\u001b');
    expect(painted).toContain('\u001b[32mwin');
    // eslint-disable-next-line no-control-regex
    expect(painted.replace(/\u001b\[\d+m/g, '').replace(/ +$/gm, '')).toBe(plain);
  });

  test('says where the p95 has another verdict than the p50', async () => {
    const analysis = await analyzed({
      sample: (target) =>
        target === 'journal' ? { turn: [20, 19.5, 19.5, 19.5, 60], turnCpu: undefined } : {},
    });
    expect(reportText(analysis, undefined, painter(false))).toMatch(/\nwarm .* tie \(p95 lose\)\n/);
  });

  test('shows the largest cold time of both', async () => {
    const text = reportText(await analyzed(), undefined, painter(false));
    expect(text).toMatch(/\ncold +ms( +\d+\.\d){6} +0\.500 +win\n/);
  });

  test('gives no ratio and no verdict where nothing is left of the times but the noise of the floor', async () => {
    const open = [5.2, 5.9, 5.4, 6.2];
    const analysis = await analyzed({
      targets: [...TARGETS, { name: 'memory', role: 'floor' }],
      sample: (target, _, round) =>
        target === 'memory'
          ? { open: open[round]!, turn: [1, 1, 1, 1, 1], turnCpu: undefined }
          : { open: 5.3, turn: [2, 20, 20, 20, 20], turnCpu: undefined },
    });
    const text = reportText(analysis, undefined, painter(false));
    expect(text).toMatch(/\ncold +ms( +-?\d+\.\d+){6} +below floor\n/);
    expect(text).toMatch(/\nwarm +ms( +\d+\.\d+){7} +(tie|win|lose)/);
    expect(analysis.comparisons[0]!.verdicts['cold']).toBeDefined();
  });

  test('gives the evidence in numbers: what was concluded, and what is only shown', async () => {
    const random = generator(3);
    const analysis = await analyzed({
      rounds: 12,
      targets: [...TARGETS, { name: 'sqlite-control', role: 'control' }],
      sample: (target) => {
        const own = (target === 'journal' ? 18 : 20) * (1 + 0.01 * random());
        return { turn: [own, own, own, own, own], turnCpu: undefined };
      },
    });
    const [one] = analysis.conclusions as [Analysis['conclusions'][0]];
    const [, head, warm, cold] = /\n(metric +conclusion .*)\n(warm .*)\n(cold .*)\n/.exec(
      reportText(analysis, undefined, painter(false)),
    )!;
    expect(head!.split(/ {2,}/)).toEqual([
      'metric',
      'conclusion',
      'ratio',
      '95 % from',
      'to',
      'p',
      'least p',
      'margin',
      'rounds',
      'detectable from',
      'round sd',
      'control',
    ]);
    const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
    expect(warm!.split(/ {2,}/)).toEqual([
      'warm',
      'faster',
      ...[one.ratio, one.low, one.high].map((value) => value!.toFixed(3)),
      '0.0005',
      '0.0005',
      '3 %',
      '12',
      percent(one.detectable!),
      percent(one.withinSd!),
      `${one.control!.low!.toFixed(3)}–${one.control!.high!.toFixed(3)}`,
    ]);
    expect(cold!.split(/ {2,}/).slice(0, 2)).toEqual(['cold', 'shown']);
  });

  test('is harmless, whatever a machine is called', async () => {
    const analysis = await analyzed({
      facts: { node: 'a\u001b[2Jb', cpuSet: 'shared' },
      pin: { fixedClock: false },
    });
    const text = reportText(analysis, undefined, painter(false));
    expect(text).not.toContain('\u001b');
    expect(text).toContain("node 'a\\e[2Jb' scale their clock");
  });

  test('has no verdicts where none were given', async () => {
    const text = reportText(await analyzed({ rounds: 2 }), undefined, painter(false));
    expect(text).not.toMatch(/\b(win|lose|tie)\b/);
    expect(text).toContain('\nnot judged\n');
  });

  test('tells a doubt of several sessions once, and the CPU time of each in one line', async () => {
    const one = await analyzed({ facts: { cpuSet: 'shared' }, rounds: 12 });
    const sessions = ['1', '2', '3']
      .map((at) => `k8sbench-cmp-made-n${at}`)
      .map((run) => ({ ...one.sessions[0]!, run }));
    const doubt = { name: 'steal', value: 1, threshold: 0.05, sentence: 'some samples were late' };
    const shown = one.shown!.filter((each) => each.metric === 'cpuWarm');
    const text = reportText(
      {
        ...one,
        sessions,
        doubts: [sessions[0]!, sessions[2]!].map(({ run: session }) => ({ ...doubt, session })),
        shown: sessions.flatMap(({ run }) => shown.map((each) => ({ ...each, session: run }))),
      },
      undefined,
      painter(false),
    );
    expect(text.match(/doubt .*/g)).toEqual(["doubt 'steal': some samples were late (n1, n3)"]);
    expect(text).toContain(
      '\n  ratios of journal on cpuWarm (CPU), session by session: 0.50, 0.50, 0.50; not a primary metric\n',
    );
  });
});
