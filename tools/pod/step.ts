import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { Step } from '../../schemas/plan.ts';
import type { Profile, Target } from '../../schemas/profile.ts';
import { cause } from '../../shared/failure.ts';
import { total } from './meter.ts';
import { fill, type Values } from '../../schemas/placeholders.ts';
import type { Rig } from './rig.ts';
import { type Measured, StepRun } from './step-run.ts';
import { passed } from './surroundings.ts';
import { type Handed, impossibleTimes, sampleFields, seedFields } from './workload-line.ts';

/** What the steps of a session have in common beside the rig. */
export interface Bench {
  profile: Profile;
  root: string;
  /** Directory of the fixtures. */
  data: string;
  /** Fields that every seed and sample line carries. */
  machine: { gomaxprocs: number; cpuModel: string; cpuFeatures: string };
}

/** What a step gave: the fields of its own line, and the processes that count. */
interface Outcome {
  fields: Record<string, unknown>;
  measured: Measured[];
}

interface Asked {
  rig: Rig;
  bench: Bench;
  target: Target;
  step: Step;
  run: StepRun;
  values: Values;
}

/** Fingerprint of plain commands whose output isn't compared. */
const UNCHECKED = 'unchecked';

/** Times with the clock's own resolution, ns; the digits after it are rounding. */
const ms = (value: number): number => Math.round(value * 1e6) / 1e6;
const usec = (value: number): number => Math.round(value * 1e3) / 1e3;

const words = (command: readonly string[] | undefined, values: Values): string[] =>
  (command ?? []).map((word) => fill(word, values));

/** `{dir}` of a target at a size. */
const fixtureDirectory = (data: string, target: string, turns: number): string =>
  `${data}/${target}/${turns}`;

const ignore = (): void => undefined;

/** Runs one command of a workload and keeps its stdout, up to the limit. */
const kept = async (
  asked: Asked,
  command: readonly string[],
): Promise<{ stdout: string; measured: Measured }> => {
  const { rig, run } = asked;
  const limit = rig.limits.stdout_bytes;
  const parts: Buffer[] = [];
  let size = 0;
  const measured = await run.process(command, (part) => {
    size += part.length;
    if (size <= limit) parts.push(Buffer.from(part));
    else run.stop(run.error('output', `printed more than ${limit} bytes to stdout and was killed`));
  });
  // A workload times itself; around it stands the outer time, which its own times must fit into.
  return {
    stdout: Buffer.concat(parts).toString('utf8'),
    measured: { ...measured, wallMs: measured.outerMs },
  };
};

const fieldsOf = (run: StepRun, handed: Handed): Record<string, unknown> => {
  if ('wrong' in handed) throw run.error('step', handed.wrong);
  return handed.fields;
};

const workloadSeed = async (asked: Asked): Promise<Outcome> => {
  const { target, run, rig, values } = asked;
  const { measured } = await kept(asked, words(target.seed, values));
  const path = fill(target.seedMeta ?? '', values);
  let text: string;
  try {
    if (statSync(path).size > rig.limits.stdout_bytes) throw new Error('it is too large');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw run.error('step', `can't be taken: its file '${path}' can't be read: ${cause(error)}`);
  }
  return { fields: fieldsOf(run, seedFields(text, path)), measured: [measured] };
};

const workloadSample = async (asked: Asked): Promise<Outcome> => {
  const { target, run, values } = asked;
  const { stdout, measured } = await kept(asked, words(target.sample, values));
  const fields = fieldsOf(run, sampleFields(stdout, asked.bench.profile.metrics));
  const impossible = impossibleTimes(fields, measured.wallMs);
  if (impossible) throw run.error('step', impossible);
  return { fields, measured: [measured] };
};

/** One process of a plain command, after its untimed preparation: fingerprint and size of its stdout. */
const plainProcess = async (asked: Asked) => {
  const { bench, target, run, values } = asked;
  if (target.prepare) await run.process(words(target.prepare, values), ignore);
  const hash = bench.profile.outputCheck === false ? undefined : createHash('sha256');
  let bytes = 0;
  const measured = await run.process(words(target.command, values), (part) => {
    bytes += part.length;
    hash?.update(part);
  });
  return { measured, bytes, fingerprint: hash?.digest('hex').slice(0, 16) ?? UNCHECKED };
};

const plainSeed = async (asked: Asked): Promise<Outcome> => {
  const { measured, bytes, fingerprint } = await plainProcess(asked);
  return { fields: { fingerprint, bytes, synthetic: true }, measured: [measured] };
};

/** Each value, when all are there. */
const all = (values: readonly (number | undefined)[]): number[] | undefined =>
  values.every((one) => one !== undefined) ? (values as number[]) : undefined;

/** CPU time of each process, µs: the runtime's account of it, else the cgroup's. */
const cpuTimes = (rig: Rig, measured: readonly Measured[]): number[] | undefined =>
  all(measured.map((one) => one.cpuUsec)) ??
  (rig.accounting === 'cgroup' ? all(measured.map((one) => one.spent.usageUsec)) : undefined);

const plainSample = async (asked: Asked): Promise<Outcome> => {
  const { rig, target, step, run } = asked;
  const measured: Measured[] = [];
  let first: string | undefined;
  for (let at = 0; at < step.turns; at++) {
    const one = await plainProcess(asked);
    measured.push(one.measured);
    first ??= one.fingerprint;
    if (one.fingerprint !== first)
      throw run.error(
        'step',
        `printed something else the ${at + 1}. time (${one.fingerprint}) than the first (${first}); ` +
          'make its output the same each time, or give the profile --no-output-check',
      );
  }
  const cpu = cpuTimes(rig, measured);
  const peaks = all(measured.map((one) => one.peakRssBytes));
  return {
    fields: {
      open: 0,
      turn: measured.map((one) => ms(one.wallMs)),
      // A floor does less work by its nature; what it prints is compared with nothing.
      ...(target.role === 'floor' ? {} : { fingerprint: first }),
      ...(cpu ? { openCpu: 0, turnCpu: cpu.map((one) => ms(one / 1000)) } : {}),
      ...(peaks ? { peakRss: Math.max(...peaks) / 2 ** 20 } : {}),
    },
    measured,
  };
};

const kindOf = (target: Target, step: Step): ((asked: Asked) => Promise<Outcome>) => {
  if (target.command) return step.step === 'seed' ? plainSeed : plainSample;
  return step.step === 'seed' ? workloadSeed : workloadSample;
};

/** The readings around the processes that count. Spec fields that weren't measured are null, others absent. */
const cpuFields = (rig: Rig, measured: readonly Measured[]): Record<string, unknown> => {
  const { usageUsec, nrPeriods, nrThrottled, throttledUsec, harnessUsec } = total(
    measured.map((one) => one.spent),
  );
  const accounted = all(measured.map((one) => one.cpuUsec))?.reduce((sum, one) => sum + one, 0);
  const usage = { cgroup: usageUsec, process: accounted, none: undefined }[rig.accounting];
  return {
    wallMs: ms(measured.reduce((sum, one) => sum + ms(one.wallMs), 0)),
    usageUsec: usage === undefined ? null : usec(usage),
    nrPeriods: nrPeriods ?? null,
    nrThrottled: nrThrottled ?? null,
    throttledUsec: throttledUsec === undefined ? null : usec(throttledUsec),
    ...rig.clock.take(),
    harnessUsec,
  };
};

/** Runs one step; gives the fields of its cpu line and of its own line. */
export const runStep = async (
  rig: Rig,
  bench: Bench,
  step: Step,
  number: number,
): Promise<{ cpu: Record<string, unknown>; line: Record<string, unknown> }> => {
  const target = bench.profile.targets.find((one) => one.name === step.target)!;
  const { turns, sample } = step;
  const identity = { target: target.name, turns, ...(sample === undefined ? {} : { sample }) };
  const dir = fixtureDirectory(bench.data, target.name, turns);
  // Its thread is at work while the step is prepared.
  rig.probe?.ask();
  if (step.step === 'seed') rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });

  const settled = await rig.settle.wait(rig.stopping);
  const round = sample === undefined ? '' : `, round ${sample}`;
  const run = new StepRun(
    rig,
    `the ${step.step} of '${target.name}' at size ${turns}${round}`,
    target.name,
    `${number}-${step.step}-${target.name}-${turns}${sample === undefined ? '' : `-${sample}`}.stderr`,
  );
  const before = rig.surroundings.read();
  const values = { root: bench.root, dir, turns, sample: sample ?? 0 };
  const probed = rig.probe?.answer() ?? {};
  let outcome: Outcome;
  try {
    outcome = await kindOf(target, step)({ rig, bench, target, step, run, values });
  } catch (error) {
    await run.end(false);
    throw error;
  }
  const surroundings = passed(before, rig.surroundings.read());
  await run.end(true);
  const changed = rig.conditions.changed();
  if (changed) throw changed;
  return {
    cpu: {
      step: step.step,
      ...identity,
      ...cpuFields(rig, outcome.measured),
      ...surroundings,
      ...settled,
      ...probed,
      ...(run.ownAffinity ? { ownAffinity: run.ownAffinity } : {}),
    },
    line: {
      ...identity,
      ...outcome.fields,
      ...(step.step === 'seed' ? { from: 'empty' } : {}),
      ...bench.machine,
    },
  };
};
