import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import { estimateOf } from './estimate.ts';
import { layDown, type Request } from './lay-down.ts';
import { overLimit, planTable } from './show.ts';

const out = mkdtempSync(join(tmpdir(), 'k8sbench-estimate-'));
afterAll(() => rmSync(out, { recursive: true }));

const request = (rounds: number, turns: number[]): Request => ({
  session: {
    mode: 'compare',
    profile: BUILT_IN['durable-store']!,
    turns,
    rounds,
    warmupRounds: 0,
    order: 'rotate',
    pin: 'auto',
    cpus: 2,
    allowFrequencyScaling: false,
    delivery: 'local',
    limits: { step_s: 1, session_s: 1, stdout_bytes: 1 },
  },
  about: { gate: 'auto', maxCv: 0.05 },
  values: {
    cpus: 2,
    memory: '1',
    deadlineSeconds: 60,
    allowUnpinnedImage: false,
    scratchSize: '1',
    ttlSecondsAfterFinished: 3600,
  },
  children: 1,
});
const line = (t: string, time: number, more: object = {}): string =>
  `${JSON.stringify({ t, at: new Date(time * 1000).toISOString(), ...more })}\n`;
/** A run that took so many seconds, its log written at a time. */
const measured = (
  name: string,
  rounds: number,
  turns: number[],
  seconds: number,
  at: number,
  done = true,
  samples = rounds * 3,
): void => {
  const dir = join(out, name);
  mkdirSync(dir);
  for (const [file, text] of layDown(request(rounds, turns), name, 0).files)
    writeFileSync(join(dir, file), text);
  writeFileSync(
    join(dir, 'pod.log'),
    line('facts', 100) + (done ? line('done', 100 + seconds, { seeds: 2, samples }) : ''),
  );
  utimesSync(join(dir, 'pod.log'), at, at);
};

test('the newest finished run alike, per step', () => {
  const planned = layDown(request(12, [50]), 'new', 0).plan;
  expect(estimateOf(join(out, 'missing'), planned)).toBeUndefined();
  expect(estimateOf(out, planned)).toBeUndefined();
  measured('other-size', 12, [500], 1, 9);
  measured('unfinished', 12, [50], 1, 8, false);
  mkdirSync(join(out, 'broken'));
  writeFileSync(join(out, 'broken', 'run.json'), '{');
  writeFileSync(join(out, 'broken', 'pod.log'), '');
  expect(estimateOf(out, planned)).toBeUndefined();
  // 2 seeds and 6 × 3 samples in 40 s; planned are 2 and 36.
  measured('older', 6, [50], 40, 5);
  expect(estimateOf(out, planned)).toEqual({ seconds: 76, from: 'older' });
  measured('newer', 6, [50], 20, 6);
  // A long log is looked at from both ends; broken neighbours are passed over.
  const lines = line('sample', 0).repeat(5000);
  writeFileSync(
    join(out, 'newer', 'pod.log'),
    line('facts', 100) + lines + line('done', 120, { seeds: 2, samples: 18 }) + line('end', 120),
  );
  utimesSync(join(out, 'newer', 'pod.log'), 6, 6);
  measured('without-plan', 6, [50], 1, 7);
  rmSync(join(out, 'without-plan', 'plan.json'));
  measured('directory-for-a-log', 6, [50], 1, 7);
  rmSync(join(out, 'directory-for-a-log', 'pod.log'));
  mkdirSync(join(out, 'directory-for-a-log', 'pod.log'));
  symlinkSync('nowhere', join(out, 'link'));
  expect(estimateOf(out, planned)).toEqual({ seconds: 38, from: 'newer' });
});

test('a session that will be stopped before it is done is told', () => {
  const tellsOf = (session_s: number, seconds?: number): string[] => {
    const one = request(12, [50]);
    const limited = { ...one, session: { ...one.session, limits: { ...one.session.limits, session_s } } };
    return overLimit(limited, seconds === undefined ? undefined : { seconds, from: 'older' });
  };
  expect([tellsOf(30), tellsOf(30, 30), tellsOf(30, 31).length]).toEqual([[], [], 1]);
  expect(tellsOf(5400, 7200)[0]).toBe(
    "a session will take about 2 h 0 min, as older did, and is stopped after 1 h 30 min, before the deadline of 60 s; plan with a later '--deadline', or fewer rounds or sizes",
  );
});

test('of a run that ended early, as it was decided, the steps that were taken count', () => {
  const planned = layDown(request(12, [77]), 'new', 0).plan;
  // 2 seeds and 6 of 12 × 3 samples in 40 s.
  measured('early', 12, [77], 40, 5, true, 18);
  expect(estimateOf(out, planned)).toEqual({ seconds: 76, from: 'early' });
});

test.each([
  ['sessions', { sessions: 5 }, 'about 50 min'],
  ['spread', { spread: 5 }, 'about 10 min'],
])('%s of 10 min each take %j', (_, about, takes) => {
  const asked = request(12, [50]);
  const several = { ...asked, about: { ...asked.about, ...about }, children: 5 };
  const { plan } = layDown(several, 'new', 0);
  expect(planTable(several, plan, { seconds: 600, from: 'x' })).toContain(`${takes}`);
});
