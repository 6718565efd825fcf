/** How long a session will take, from the last one alike that was measured beside it. */
import { closeSync, existsSync, fstatSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Plan, plan as planSchema } from '../../schemas/plan.ts';
import { type Run, run as runSchema } from '../../schemas/run.ts';
import { openFile } from '../../shared/input-file.ts';
import { readJson } from '../../shared/read.ts';
import type { Estimate } from './show.ts';

/** Runs looked at, newest first: enough to find one alike, few enough not to be felt. */
const LOOKED_AT = 50;
/** How much of a log's beginning and of its end is read: its first line, and those around `done`. */
const END_BYTES = 64 << 10;

/** The first lines and the last ones of a log of any size. */
const endsOf = (path: string): { first: string; last: string } => {
  const fd = openFile(path);
  try {
    const { size } = fstatSync(fd);
    const part = (from: number): string => {
      const bytes = Buffer.alloc(Math.min(END_BYTES, size));
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, from));
    };
    return { first: part(0), last: part(Math.max(0, size - END_BYTES)) };
  } finally {
    closeSync(fd);
  }
};

const timeOf = (line: string | undefined): number =>
  Date.parse(String((JSON.parse(line ?? '{}') as { at?: unknown }).at));

/** Seconds from the first line of a log to its `done`, and the steps that it took: it may have ended early, as planned. */
const measuredIn = (path: string): { seconds: number; steps: number } => {
  const { first, last } = endsOf(path);
  const done = last.split('\n').findLast((line) => line.startsWith('{"t":"done"'));
  const { seeds, samples } = JSON.parse(done ?? '{}') as { seeds?: number; samples?: number };
  const seconds = (timeOf(done) - timeOf(first.split('\n', 1)[0])) / 1000;
  return { seconds, steps: Number(seeds) + Number(samples) };
};

const isAlike = ({ mode, profile, turns, delivery }: Run, { compact }: Plan): boolean =>
  mode === compact.mode &&
  profile === compact.profile.name &&
  delivery === compact.delivery &&
  String(turns) === String(compact.turns);

/** What another run says about this plan, when it is alike and was measured to its end. */
const estimateFrom = (directory: string, from: string, plan: Plan): Estimate | undefined => {
  if (!isAlike(readJson(join(directory, 'run.json'), runSchema), plan)) return undefined;
  const { steps } = readJson(join(directory, 'plan.json'), planSchema);
  const measured = measuredIn(join(directory, 'pod.log'));
  // Warm-ups are steps that `done` does not count.
  const taken = measured.steps + steps.filter((one) => one.step === 'warmup').length;
  const seconds = (measured.seconds / taken) * plan.steps.length;
  return seconds > 0 && Number.isFinite(seconds) ? { seconds, from } : undefined;
};

/** Finished or unfinished runs in a directory, the one measured last first. */
const runsIn = (out: string): string[] =>
  readdirSync(out, { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .map(({ name }) => ({
      name,
      at: statSync(join(out, name, 'pod.log'), { throwIfNoEntry: false })?.mtimeMs,
    }))
    .filter((one) => one.at !== undefined)
    .toSorted((a, b) => b.at! - a.at!)
    .map((one) => one.name);

/** A run alike: same mode, profile and sizes. Its time per step, times the steps of this plan. An estimate is worth no error. */
export const estimateOf = (out: string, plan: Plan): Estimate | undefined => {
  if (!existsSync(out)) return undefined;
  const attempt = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch {
      return undefined;
    }
  };
  for (const name of attempt(() => runsIn(out))?.slice(0, LOOKED_AT) ?? []) {
    const estimate = attempt(() => estimateFrom(join(out, name), name, plan));
    if (estimate) return estimate;
  }
  return undefined;
};
