import { mkdirSync, rmSync } from 'node:fs';
import type { CompactPlan, Step } from '../../schemas/plan.ts';
import { sequenceOf } from '../../shared/sequence.ts';
import { type Accounted, accountingOf } from './accounting.ts';
import { artifactDigests, artifactPaths, commitIn, refuseChanged, versionsOf } from './artifacts.ts';
import { commitFits } from '../../shared/commit-name.ts';
import { type Cgroup, locateCgroup } from '../../shared/cgroup.ts';
import { ClockSampler, scalingRefusal } from './clock.ts';
import { Conditions } from './conditions.ts';
import { chooseCores, type Cores, pinFields } from './cores.ts';
import { earlyStopOf } from './early-stop.ts';
import { type Cpus, cpusOf, machineFacts } from './facts.ts';
import { RUNTIME } from './launch.ts';
import { Leftovers, MARKER } from './leftovers.ts';
import type { LineWriter } from './lines.ts';
import { CpuMeter } from './meter.ts';
import { OutputPipe } from './output-pipe.ts';
import type { Outside } from './outside.ts';
import type { Place } from './place.ts';
import type { Rig } from './rig.ts';
import { nodeVersion, probeAffinity, refuseOtherRuntime, stepEnvironment, tasksetPath } from './runtime.ts';
import { Likeness } from './likeness.ts';
import { SessionError } from './session-error.ts';
import { Settle } from './settle.ts';
import { type SpeedProbe, speedProbeHere, startSpeedProbe } from './speed-probe.ts';
import { type Bench, runStep } from './step.ts';
import { StartCost } from './start-cost.ts';
import { StderrFiles } from './stderr-files.ts';
import { SurroundingsMeter } from './surroundings.ts';

/** A session under way: its plan, its place and its log. */
export interface Session {
  outside: Outside;
  plan: CompactPlan;
  planSha256: string;
  place: Place;
  /** Directory of the fixtures, absolute and without links. */
  data: string;
  lines: LineWriter;
  /** Aborted when the session must stop; its reason is a SessionError. */
  stopping: AbortSignal;
  /** Something to be undone at the end, the last one first. */
  undo(step: () => void): void;
}

/** What is read before anything runs. */
interface Start {
  cgroup: Cgroup;
  cpus: Cpus;
  accounted: Accounted;
  env: Record<string, string>;
  artifacts: Map<string, string>;
  digests: Record<string, string>;
}

const instant = (ms: number): string => new Date(ms).toISOString();

/** A word that only this session's processes carry in their environment. */
const markerOf = (random: Uint8Array): string => Buffer.from(random).toString('hex');

const start = async ({ outside, plan, place, undo }: Session): Promise<Start> => {
  const { machine } = outside;
  const cgroup = locateCgroup(machine);
  const cpus = cpusOf(machine);
  const accounted = accountingOf(machine, cgroup, place.delivery);
  undo(() => accounted.own?.leave());
  const env = stepEnvironment(outside.env, place, markerOf(outside.random(8)));
  const artifacts = artifactPaths(plan, place.root, env['PATH']!, place.cwd);
  return { cgroup, cpus, accounted, env, artifacts, digests: await artifactDigests(artifacts) };
};

/** Writes the facts line; refuses artifacts of another commit or another runtime. */
const writeFacts = async (
  session: Session,
  { cgroup, cpus, accounted, env, digests }: Start,
): Promise<void> => {
  const { outside, plan, planSha256, place, data, lines, stopping } = session;
  const versions = versionsOf(place.root);
  const listed = commitIn(place.root);
  const commit = listed.commit ?? (listed.problem === undefined ? place.commit : '');
  const nodeRuntime = nodeVersion(env, place.cwd);
  const measured = plan.profile.targets.filter((one) => plan.mode === 'compare' || one.role === 'reference');
  stopping.throwIfAborted();
  await lines.put('facts', {
    run: plan.run,
    mode: plan.mode,
    profile: plan.profile.name,
    rule: plan.profile.rule,
    profileSpec: plan.profile,
    targets: measured.map((one) => one.name),
    turns: plan.turns,
    rounds: plan.rounds,
    node: place.node,
    pod: place.pod,
    commit,
    ...machineFacts(outside.machine, cgroup, cpus, plan, place, data),
    delivery: place.delivery,
    image: place.image,
    bundleSha256: place.bundleSha256,
    nodeRuntime,
    versions,
    artifacts: digests,
    planSha256,
    ...(plan.stopWhen ? { stopWhen: plan.stopWhen } : {}),
    at: instant(outside.now()),
    warmupRounds: plan.warmupRounds,
    order: plan.order,
    orderSeed: plan.orderSeed,
    limits: plan.limits,
    runtime: RUNTIME,
    cpuAccounting: accounted.accounting,
    ...(accounted.reason === undefined ? {} : { cpuAccountingReason: accounted.reason }),
  });
  if (listed.problem !== undefined) throw new SessionError('commit', listed.problem);
  if (plan.expectCommit !== undefined && !commitFits(plan.expectCommit, commit))
    throw new SessionError(
      'commit',
      `expected artifacts of commit '${plan.expectCommit}', found ${commit === '' ? 'ones that name no commit' : `'${commit}'`}; ` +
        'build them from that commit, or plan without --commit',
    );
  refuseOtherRuntime(place, versions['node'], nodeRuntime);
};

/** The measured cores, and what runs on them. */
interface Pinned {
  cores: Cores;
  /** Absent: nothing is pinned. */
  taskset?: string;
  probe?: SpeedProbe;
  surroundings: SurroundingsMeter;
}

/** Writes the pin line; refuses cores that can't be pinned to, or whose clock moves. */
const writePin = async (session: Session, { cgroup, cpus, env }: Start): Promise<Pinned> => {
  const { outside, plan, place, lines, stopping, undo } = session;
  const cores = await chooseCores(outside.machine, plan, cpus.allowed, stopping);
  const taskset = cores.pinned ? tasksetPath(env, place.cwd) : undefined;
  if (taskset !== undefined) probeAffinity(taskset, cores.list, env);
  const everywhere = cores.list === cpus.allowedList;
  const probe = taskset && !everywhere ? await startSpeedProbe(cores.list, taskset) : speedProbeHere();
  if (typeof probe !== 'string') undo(() => probe.close());
  const surroundings = new SurroundingsMeter(outside.machine, cgroup, cores.pin.cpus);
  undo(() => surroundings.close());
  stopping.throwIfAborted();
  const { pressureOf } = surroundings;
  await lines.put('pin', {
    ...pinFields(cores, cpus.allowed),
    ...(typeof probe === 'string' ? { speedProbe: probe } : {}),
    ...(pressureOf === undefined ? {} : { pressureOf }),
  });
  if (!cores.fixedClock && !plan.allowFrequencyScaling) throw scalingRefusal(cores.governors);
  return {
    cores,
    ...(taskset === undefined ? {} : { taskset }),
    ...(typeof probe === 'string' ? {} : { probe }),
    surroundings,
  };
};

const rigOf = (
  session: Session,
  { cgroup, cpus, accounted, env }: Start,
  { cores, taskset, probe, surroundings }: Pinned,
): Rig => {
  const { outside, plan, place, data, stopping, undo } = session;
  const { machine } = outside;
  // No target can be called that: names begin with a letter or digit.
  const logs = `${data}/.logs`;
  rmSync(logs, { recursive: true, force: true });
  mkdirSync(logs);
  const closing = <T extends { close(): void }>(one: T): T => {
    undo(() => one.close());
    return one;
  };
  return {
    machine,
    meter: closing(new CpuMeter(machine, cgroup, accounted.usageDir)),
    surroundings,
    clock: closing(new ClockSampler(machine, cores.pin.cpus)),
    conditions: closing(new Conditions(machine, cgroup, cores.pin.cpus)),
    settle: closing(new Settle(machine, data)),
    probe,
    leftovers: new Leftovers(machine, accounted.own, env[MARKER]!, accounted.contained),
    startCost: closing(new StartCost(machine)),
    pipe: closing(new OutputPipe(`${logs}/stdout`)),
    accounting: accounted.accounting,
    prefix: taskset === undefined ? [] : [taskset, '-c', cores.list],
    affinity: { expected: cores.pinned ? cores.list : cpus.allowedList, pinned: cores.pinned },
    cwd: place.cwd,
    env: { ...env, GOMAXPROCS: String(cores.gomaxprocs) },
    stderr: closing(new StderrFiles(logs)),
    limits: plan.limits,
    stopping,
  };
};

/** Runs the steps in order, all or until planned looks end them, and writes their lines; counts what was written. */
const runSteps = async (
  { plan, lines, stopping }: Session,
  rig: Rig,
  bench: Bench,
  steps: readonly Step[],
): Promise<{ seeds: number; samples: number }> => {
  const written = { seed: 0, warmup: 0, sample: 0 };
  const likeness = new Likeness(bench.profile);
  const early = earlyStopOf(plan);
  for (const [number, step] of steps.entries()) {
    stopping.throwIfAborted();
    const { cpu, line } = await runStep(rig, bench, step, number);
    await lines.putAll([
      ['cpu', cpu],
      [step.step, line],
    ]);
    likeness.check(step.step, step.target, step.turns, line['fingerprint']);
    written[step.step]++;
    if (!early || step.step !== 'sample') continue;
    early.take(line, cpu);
    if (steps[number + 1]?.sample === step.sample) continue;
    const rounds = step.sample! + 1;
    const reason = early.after(rounds);
    if (reason === undefined) continue;
    await lines.put('stop', { reason, rounds });
    break;
  }
  return { seeds: written.seed, samples: written.sample };
};

/** The session from its first line to `done`. */
export const measure = async (session: Session): Promise<void> => {
  const { outside, plan, place, data, lines } = session;
  const begun = await start(session);
  await writeFacts(session, begun);
  const pinned = await writePin(session, begun);
  const rig = rigOf(session, begun, pinned);
  // A floor has no seed before which its directory is emptied.
  for (const { name, role } of plan.profile.targets)
    if (role === 'floor') rmSync(`${data}/${name}`, { recursive: true, force: true });
  const bench: Bench = {
    profile: plan.profile,
    root: place.root,
    data,
    machine: {
      gomaxprocs: pinned.cores.gomaxprocs,
      cpuModel: begun.cpus.model,
      cpuFeatures: begun.cpus.features,
    },
  };
  const counts = await runSteps(session, rig, bench, sequenceOf(plan));
  refuseChanged(begun.digests, await artifactDigests(begun.artifacts));
  await lines.put('done', { ...counts, at: instant(outside.now()) });
};
