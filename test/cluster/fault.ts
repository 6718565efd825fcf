/** One fault of the table, and how it is made to happen: a session is planned, started, and met by it. */
import { expect } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../../schemas/profile.ts';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import { manifestProblems } from '../../tools/run-session/manifest-file.ts';
import { kubectlProgram, run as runProgram } from './kube-binary.ts';
import {
  type Bed,
  jobOf,
  keptLines,
  makeBed,
  planned,
  type Planned,
  type Running,
  start,
  untilEvent,
  untilNothingIsLeft,
  untilSo,
} from './session-runs.ts';
import { kubeconfig } from './the-cluster.ts';

/** A session to which something is about to happen. */
export interface Met {
  bed: Bed;
  run: RunDirectory;
  process: Running;
}

export interface Fault {
  /** How it is planned; without a node on node-1. */
  plan?: Planned | ((bed: Bed) => Planned | Promise<Planned>);
  /** Changes the pod, which is small and may stand beside others; the whole manifest is the second argument. */
  change?(spec: any, manifest: any): void;
  /** In a namespace of its own, and what is there before the session; may give what takes it away. */
  place?(bed: Bed): Promise<void | (() => unknown)>;
  /**
   * The event at which it happens; default: the container has started. `sampled`: some samples were seen; all that was seen
   * before it happens must be kept, however the run ends.
   */
  at?: 'claimed' | 'started' | 'measuring' | 'sampled';
  /** What happens; may give what undoes it. */
  happens?(met: Met): Promise<void | (() => unknown)>;
  /** More words for run-session; default: a short `--settle`. */
  words?: readonly string[];
  says: RegExp;
  /** Default: 1. With 0 nothing was lost. */
  exit?: 0 | 1 | 5 | 130;
  /** What else must be so. */
  after?(met: Met): void | Promise<void>;
}

export const SETTLE = ['--settle', '4s'];

export const kubectl = (words: readonly string[], input?: object): string =>
  runProgram(
    [...kubectlProgram(), '--kubeconfig', kubeconfig, ...words],
    input === undefined ? {} : { input: JSON.stringify(input) },
  );
/** Makes objects that are the whole cluster's; the function that is given removes them. */
export const apply = (...objects: object[]): (() => void) => {
  for (const one of objects) kubectl(['apply', '-f', '-'], one);
  return () => {
    for (const one of objects.toReversed()) kubectl(['delete', '--ignore-not-found', '-f', '-'], one);
  };
};

const SMALL = 'k8sbench-test/small';

/**
 * A pod that is small and may stand beside others of its kind, so that faults are made side by side. It keeps away from whole
 * sessions, as they do from it, and says so: schedulers up to Kubernetes 1.35 do not see that a pod goes which only by its own
 * rules stands in the way, and look again after five minutes (kubernetes/kubernetes#134393).
 */
export const small = (manifest: any, memory = '64Mi'): any => {
  const { metadata, spec } = manifest.spec.template;
  metadata.labels = { ...metadata.labels, [SMALL]: 'yes' };
  const [others] = spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  const labelSelector = {
    ...others.labelSelector,
    matchExpressions: [{ key: SMALL, operator: 'DoesNotExist' }],
  };
  spec.affinity.podAntiAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [{ ...others, labelSelector }],
  };
  const size = { cpu: '100m', memory };
  spec.containers[0].resources = { requests: size, limits: { ...size } };
  return spec;
};

/** The pod runs a script instead of a session. */
export const running = (spec: any, script: string): void =>
  void (spec.containers[0].command = ['sh', '-c', script]);
/** It runs until it is told to stop. */
export const waits = (spec: any): void => running(spec, 'trap "exit 143" TERM; while :; do sleep 1; done');

/** A container of a size. */
export const sized = (spec: any, cpu: string, memory = '256Mi'): void =>
  void (spec.containers[0].resources = { requests: { cpu, memory }, limits: { cpu, memory } });
/** Room for a real session beside others. */
export const real = (spec: any): void => sized(spec, '350m');

/** The built-in profile with one of its commands replaced, as a file. */
export const profileWith = (
  bed: Bed,
  word: string,
  change: (candidate: Profile['targets'][number]) => void,
) => {
  const path = join(bed.directory, `${word}.json`);
  if (!existsSync(path)) {
    const profile = structuredClone(BUILT_IN['durable-store']!);
    change(profile.targets.find((one) => one.role === 'candidate')!);
    writeFileSync(path, JSON.stringify(profile));
  }
  return path;
};

/** A session that measures for longer than it is given. */
export const sampled = {
  plan: { rounds: 900 },
  change: real,
  at: 'sampled',
} satisfies Partial<Fault>;

/** Samples that a session has shown before it is met. */
const SAMPLES = 4;
const samplesOf = (lines: readonly string[]): string[] => lines.filter((one) => one.includes('"t":"sample"'));

/** Waits for the moment at which a fault happens; gives the lines that were seen by then and must be kept. */
const untilMoment = async (run: RunDirectory, at: NonNullable<Fault['at']>): Promise<string[]> => {
  if (at !== 'sampled') {
    await untilEvent(run, at);
    return [];
  }
  await untilSo(run, 'samples', () => samplesOf(keptLines(run)).length >= SAMPLES);
  return keptLines(run);
};

/** What was seen is there, and what came after it: every line once, from the first on, none left out. */
const expectKept = (run: RunDirectory, seen: readonly string[]): void => {
  const kept = keptLines(run);
  expect(samplesOf(seen).length).toBeGreaterThanOrEqual(SAMPLES);
  expect(kept.slice(0, seen.length)).toEqual([...seen]);
  expect(kept.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual(kept.map((_, at) => at));
};

const OUTCOMES = { 0: 'done', 1: 'failed', 5: 'invalid', 130: 'interrupted' } as const;

/** Makes a fault happen and looks at everything that must be so afterwards: message, exit status, nothing left, nothing lost. */
export const meet = async (shared: Bed, fault: Fault): Promise<void> => {
  const bed = fault.place ? await makeBed('fault') : shared;
  const undo: (() => unknown)[] = [];
  const keep = (step: void | (() => unknown)): void => void (step && undo.push(step));
  try {
    keep(await fault.place?.(bed));
    const plan = typeof fault.plan === 'function' ? await fault.plan(bed) : fault.plan;
    const run = await planned(bed, {
      ...plan,
      change(manifest) {
        fault.change?.(small(manifest), manifest);
        plan?.change?.(manifest);
      },
    });
    const process = start(bed, ['--run', run.name, ...(fault.words ?? SETTLE)]);
    // Also when what happens to it fails.
    undo.unshift(() => process.kill('SIGKILL'));
    const met = { bed, run, process };
    let seen: string[] = [];
    if (fault.happens) {
      // One that ends before that has said why.
      seen = await Promise.race([untilMoment(run, fault.at ?? 'started'), process.ended.then(() => [])]);
      keep(await fault.happens(met));
    }
    const ended = await process.ended;
    for (const step of undo.splice(1).toReversed()) await step();
    const exit = fault.exit ?? 1;
    expect(ended.stderr).toMatch(fault.says);
    expect({ exit: ended.exit, stdout: ended.stdout }).toEqual({
      exit,
      stdout: exit === 0 || exit === 5 ? expect.any(String) : '',
    });
    expect(jobOf(run)).toMatchObject({ outcome: OUTCOMES[exit], exit });
    expect(run.has('MANIFEST.sha256')).toBe(exit === 0);
    if (exit === 0) expect(await manifestProblems(run, [])).toEqual([]);
    if (fault.at === 'sampled') expectKept(run, seen);
    await untilNothingIsLeft(bed, run);
    await fault.after?.(met);
  } finally {
    for (const step of undo.toReversed()) await step();
    if (bed !== shared) await bed.remove();
  }
};
