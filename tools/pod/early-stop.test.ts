/** Early stops: at planned looks alone, and from the very numbers that the analysis is asked about. */
import { describe, expect, test } from 'bun:test';
import type { CompactPlan, StopWhen } from '../../schemas/plan.ts';
import { conclusionsOf } from '../../shared/evidence/judging.ts';
import { plannedLooks } from '../../shared/evidence/spending.ts';
import { type Line, type Made, madeLog, type MadeTarget, sessionLines } from '../../test/made-log.ts';
import { runTool } from '../../test/outside.ts';
import { main as analyze } from '../analyze/main.ts';
import { EarlyStop } from './early-stop.ts';

const TARGETS: MadeTarget[] = [
  { name: 'journal', role: 'candidate' },
  { name: 'sqlite', role: 'reference' },
  { name: 'memory', role: 'floor' },
  { name: 'sqlite-control', role: 'control' },
];
const PROFILE = {
  name: 'store',
  rule: 'store',
  about: '',
  fingerprints: {},
  primary: ['warm', 'cold', 'cpu', 'cpuWarm', 'rows'],
  metrics: [{ key: 'rows', unit: '1', better: 'higher', gated: false, pooled: true, signed: false }],
};

const ruleOf = (rounds: number): StopWhen => ({
  looks: plannedLooks(rounds),
  margin: 0.03,
  level: 0.05,
  seed: 1,
});

/** A session of `rounds` rounds whose candidate takes `times` as long, with a wobble that differs from target to target. */
const madeOf = (times: number, rounds: number, planned: number, made: Partial<Made> = {}): Partial<Made> => ({
  targets: TARGETS,
  turns: [50, 500],
  rounds,
  profile: PROFILE,
  sample: (target, turns, round) => {
    const wobble = 1 + ((round * 7 + target.length * 3 + turns) % 11) / 2000;
    const pace = (target === 'memory' ? 2 : target === 'journal' ? 20 * times : 20) * wobble;
    return {
      open: pace,
      turn: [2 * pace, pace, pace],
      openCpu: pace,
      turnCpu: [pace, pace / 2, pace / 2],
      rows: [pace, 3, 900],
    };
  },
  ...made,
  facts: { rounds: planned, stopWhen: ruleOf(planned) },
});

const planOf = (rounds: number): CompactPlan & { stopWhen: StopWhen } =>
  ({
    run: 'k8sbench-cmp-made',
    mode: 'compare',
    profile: { ...PROFILE, targets: TARGETS },
    turns: [50, 500],
    rounds,
    stopWhen: ruleOf(rounds),
  }) as never;

/** Feeds a session's lines as `pod` does; gives the stop's reasons by round. */
const fed = (lines: readonly Line[], planned: number) => {
  const early = new EarlyStop(planOf(planned));
  const reasons: (string | undefined)[] = [];
  const samples = lines.flatMap((line, at) =>
    line['t'] === 'sample' ? [{ line, cpu: lines[at - 1]! }] : [],
  );
  for (const [at, { line, cpu }] of samples.entries()) {
    early.take(line, cpu);
    if (samples[at + 1]?.line['sample'] !== line['sample'])
      reasons.push(early.after(Number(line['sample']) + 1));
  }
  return { early, reasons };
};

/** A conclusion without what the tracker's verdict adds. */
const plain = (one: object) => {
  const { verdict: _verdict, disagreement: _disagreement, ...rest } = one as Record<string, unknown>;
  return rest;
};

test('what it is decided from is what the analysis concludes from, to the last digit', async () => {
  const made = madeOf(0.9, 9, 12);
  const { early } = fed(sessionLines(made), 12);
  const { stdout, exit } = await runTool(analyze, ['--log', '-'], { stdin: madeLog(made) });
  expect(exit).toBe(0);
  const { conclusions } = JSON.parse(stdout);
  expect(conclusions).toHaveLength(10);
  expect(conclusions.map(plain)).toEqual(JSON.parse(JSON.stringify(conclusionsOf(early.input()))));
});

describe('rounds end', () => {
  test('at the first planned look that decides, and at no other round', () => {
    const { reasons } = fed(sessionLines(madeOf(0.8, 12, 12)), 12);
    expect(reasons.map((one) => one !== undefined)).toEqual(
      Array.from({ length: 12 }, (_, at) => [6, 9].includes(at + 1)),
    );
    expect(reasons[5]).toBe('every conclusion is reached after 6 of 12 rounds');
  });

  test('not while one of the questions is open', () => {
    const { reasons } = fed(
      sessionLines(
        madeOf(0.8, 12, 12, {
          sample: (target, turns, round) => ({
            open: 5,
            turn: [9, ...Array<number>(3).fill(turns === 500 && target === 'journal' && round % 2 ? 30 : 20)],
            rows: [1],
          }),
        }),
      ),
      12,
    );
    expect(reasons.every((one) => one === undefined)).toBe(true);
  });

  test('not where a primary metric is not in every sample', () => {
    const made = madeOf(0.8, 12, 12);
    const { reasons } = fed(
      sessionLines({
        ...made,
        sample: (target, turns, round) => ({
          ...made.sample!(target, turns, round),
          ...(round === 2 && target === 'journal' ? { rows: null } : {}),
        }),
      }),
      12,
    );
    expect(reasons.every((one) => one === undefined)).toBe(true);
  });
});
