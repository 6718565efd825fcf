/** How many rounds an effect takes: from the noise of an earlier run, through the command line. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Analysis } from '../../schemas/analysis.ts';
import { neededFor } from '../../shared/evidence/planning.ts';
import { runTool } from '../../test/outside.ts';
import { noiseOf } from './for-effect.ts';
import { main } from './main.ts';

const cwd = mkdtempSync(join(tmpdir(), 'k8sbench-effect-'));
const bin = join(cwd, 'bin');
const fixture = resolve(import.meta.dir, '../../fixtures/schemas/analysis/valid-c-evidence.json');
const EARLIER = JSON.parse(readFileSync(fixture, 'utf8')) as Analysis;
const [CONCLUSION] = EARLIER.conclusions as [Analysis['conclusions'][number]];

/** The same run with a change, in a directory of its own. */
const earlier = (name: string, change: object): void => {
  mkdirSync(join(cwd, name));
  writeFileSync(join(cwd, name, 'analysis.json'), JSON.stringify({ ...EARLIER, ...change }));
};
const conclusion = (change: object) => ({ ...CONCLUSION, ...change });

beforeAll(() => {
  mkdirSync(bin);
  for (const name of ['bun', 'taskset', 'awk', 'sort'])
    writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(
    join(cwd, 'store.json'),
    JSON.stringify({
      name: 'store',
      rule: 'store',
      about: '',
      repeat: 50,
      targets: [
        { name: 'a', role: 'candidate', command: ['awk'] },
        { name: 'b', role: 'reference', command: ['sort'] },
      ],
    }),
  );
  earlier('aa', { conclusions: [conclusion({ withinSd: 0.02 })] });
  earlier('sessions', {
    conclusions: [0.97, 1, 1.03].map((ratio, at) => conclusion({ withinSd: 0.02, ratio, session: `n${at}` })),
  });
  earlier('wild', { conclusions: [conclusion({ withinSd: 3 })] });
  earlier('refused', { judged: false, exit: 3, reasons: ['noise'], conclusions: [] });
  earlier('other', { profile: 'other' });
  earlier('elsewhere', { conclusions: [conclusion({ turns: 500 })] });
  earlier('calibration', { mode: 'calibrate', conclusions: [] });
});
afterAll(() => rmSync(cwd, { recursive: true }));

const plan = async (...flags: string[]) => {
  const args = ['--local', '--profile', 'store.json', '--pin', 'none', '--out', '-', ...flags];
  const done = await runTool(main, args, { cwd, env: { PATH: bin } });
  return { ...done, compact: done.stdout === '' ? undefined : JSON.parse(done.stdout).compact };
};

/** Rounds planned for 5 % from the run that varied by 2 %. */
const roundsFor = async (...flags: string[]): Promise<number> =>
  (await plan('--for-effect', '5%', '--from', 'aa', ...flags)).compact.rounds;

describe('an effect that can be told', () => {
  test('is planned with as many rounds as it takes, and it is said how many', async () => {
    const { rounds } = neededFor({ withinSd: 0.02, freedom: 11 }, { effect: 0.05, margin: 0.03, power: 0.8 });
    const { exit, compact, stderr } = await plan('--for-effect', '5%', '--from', 'aa');
    expect([exit, compact.rounds]).toEqual([0, rounds]);
    expect(stderr).toContain(
      `5 % beyond a margin of 3 %, found in 80 % of sessions: ${rounds} rounds (from round to round 'aa' varied by 2 %)`,
    );
    expect(stderr).toContain("is unknown: 'aa' is one session");
  });

  test('with more power takes more rounds, with planned looks a quarter more', async () => {
    const plain = await roundsFor();
    expect(await roundsFor('--power', '95%')).toBeGreaterThan(plain);
    expect(await roundsFor('--margin', '1%')).toBeLessThan(plain);
    expect(await roundsFor('--stop-when', 'decided')).toBe(Math.ceil(1.25 * plain));
  });

  test('is planned with the rounds that were asked for beside it', async () => {
    const { compact, stderr } = await plan('--for-effect', '5%', '--from', 'aa', '--rounds', '30');
    expect(compact.rounds).toBe(30);
    expect(stderr).toContain('; planned are 30, as asked');
  });

  test('is said of the program when there were sessions that differ', async () => {
    const { stderr } = await plan('--for-effect', '8%', '--from', 'sessions');
    expect(stderr).toMatch(/\d+ sessions of \d+ rounds would say it of the program/);
    const apart = noiseOf([0.97, 1, 1.03].map((ratio) => ({ withinSd: 0.001, rounds: 12, ratio })));
    expect(apart.betweenSd).toBeCloseTo(0.03, 2);
    expect(noiseOf([{ withinSd: 0.02, rounds: 12, ratio: 1 }])).toEqual({ withinSd: 0.02, freedom: 11 });
  });

  test('is recorded in run.json with the run it was planned from', async () => {
    const { stdout } = await runTool(
      main,
      [
        '--local',
        '--profile',
        'store.json',
        '--pin',
        'none',
        '--for-effect',
        '4%',
        '--from',
        'aa',
        '--margin',
        '2%',
      ],
      { cwd, env: { PATH: bin } },
    );
    const run = JSON.parse(readFileSync(join(cwd, stdout.trim(), 'run.json'), 'utf8'));
    expect(run).toMatchObject({
      margin: 0.02,
      forEffect: {
        effect: 0.04,
        power: 0.8,
        rounds: run.rounds,
        from: { path: join(cwd, 'aa', 'analysis.json') },
      },
    });
  });
});

describe('refused before anything is planned, exit 2', () => {
  test.each<[string, string[], string]>([
    [
      'an effect within the margin',
      ['--for-effect', '3%', '--from', 'aa'],
      '3 % is not above the margin of 3 %',
    ],
    [
      'an effect within a margin of its own',
      ['--for-effect', '0.5%', '--margin', '1%', '--from', 'aa'],
      '0.5 % is not above the margin of 1 %',
    ],
    ['no run to learn from', ['--for-effect', '5%'], "'--for-effect' needs --from"],
    ['no effect', ['--from', 'aa'], "'--from' needs --for-effect"],
    ['power without effect', ['--power', '0.9'], "'--power' needs --for-effect"],
    ['power that is none', ['--power', '1'], "flag '--power': expected a share between 0 and 1"],
    ['a run that is not there', ['--for-effect', '5%', '--from', 'gone'], "'gone' has no analysis.json"],
    ['a run that was refused', ['--for-effect', '5%', '--from', 'refused'], "'refused' is not judged"],
    ['a calibration', ['--for-effect', '5%', '--from', 'calibration'], "'calibration' is a calibration"],
    [
      'another profile',
      ['--for-effect', '5%', '--from', 'other'],
      "'other' is of profile 'other', not of 'store'",
    ],
    [
      'other sizes',
      ['--for-effect', '5%', '--from', 'elsewhere'],
      "'elsewhere' has no ratio of warm at 50 processes a sample",
    ],
    ['more rounds than there are', ['--for-effect', '5%', '--from', 'wild'], 'takes more than 10,000 rounds'],
    [
      'a calibration that stops',
      ['--mode', 'calibrate', '--stop-when', 'decided'],
      'have no meaning for a calibration',
    ],
    ['sessions that stop', ['--stop-when', 'decided', '--sessions', '2'], 'exclude each other'],
    [
      'too few rounds to stop',
      ['--stop-when', 'decided', '--rounds', '6'],
      '6 rounds have no look before their end',
    ],
  ])('%s', async (_, flags, says) => {
    const { exit, stdout, stderr } = await plan(...flags);
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).toContain(says);
  });
});

test('--stop-when lays down looks, margin and error before anything is measured', async () => {
  const { compact, stderr } = await plan('--stop-when', 'decided', '--margin', '2%');
  expect(compact.stopWhen).toEqual({ looks: [6, 9, 12], margin: 0.02, level: 0.05, seed: 1 });
  expect(stderr).toContain('12, order rotate, may end after 6 or 9, when decided');
});
