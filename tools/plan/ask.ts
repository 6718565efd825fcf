/** From a command line to a checked request: every problem of every part is found before any is told. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { calibration as calibrationSchema } from '../../schemas/calibration.ts';
import type { Profile } from '../../schemas/profile.ts';
import type { Run } from '../../schemas/run.ts';
import { calibrationFit } from '../../shared/calibration-fit.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { readProfile, type ReadProfile } from '../../shared/profiles/read.ts';
import { check, parseJson, readText } from '../../shared/read.ts';
import type { World } from '../../shared/world.ts';
import { commitOfArtifacts, commitProblems, localCommit } from './commit.ts';
import { configurationOf } from './configuration.ts';
import { withControl } from './control.ts';
import type { PlanFlags } from './flags.ts';
import { type Request, sessionLimit, STDOUT_BYTES } from './lay-down.ts';
import { machineOf } from './machine.ts';
import { BUILT_IN_ROOT, pinProblems, programsOf, withRuntime } from './programs.ts';
import { sizeProblems } from './size.ts';
import { whereOf, type Where } from './where.ts';

export interface Asked {
  request: Request;
  /** What was decided for the user, one sentence each. */
  said: string[];
}

/** Runs a part; what it refuses joins the problems. */
const part = async <T>(problems: string[], run: () => Promise<T> | T): Promise<T | undefined> => {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
};

/** Sizes of the session: as asked, or the only one that plain commands have. */
const turnsOf = (profile: Profile, flags: PlanFlags, problems: string[]): number[] => {
  if (profile.repeat === undefined) return flags.turns ?? [3500];
  if (flags.turns !== undefined)
    problems.push(
      `flag '--turns': plain commands have no size but the number of their processes, ${profile.repeat}; set it in the profile, with 'k8sbench profile --repeat'`,
    );
  return [profile.repeat];
};

/** Flags that exclude each other or need another one. */
const flagProblems = (flags: PlanFlags, where: Where): string[] => {
  const problems: string[] = [];
  if (flags.mode === 'calibrate' && flags.aa)
    problems.push("'--aa' has no meaning for a calibration: it measures the reference alone");
  if (flags.mode === 'calibrate' && flags.calibration)
    problems.push("'--calibration' has no meaning for a calibration; it belongs to a comparison");
  if (flags.calibration && !where.pinned)
    problems.push(
      "'--calibration' needs a session on known nodes; add --node, --nodes, --pick-node or --spread",
    );
  if (flags.run !== undefined && flags.out === '-') problems.push("'--run' and '--out -' exclude each other");
  if (flags.run !== undefined && flags['dry-run'])
    problems.push("'--run' and '--dry-run' exclude each other");
  if (flags.force && flags.run === undefined)
    problems.push("'--force' needs --run: a new run has nothing to force");
  const stdin = (['profile', 'values', 'run'] as const).filter((name) => flags[name] === '-');
  if (stdin.length > 1)
    problems.push(`${stdin.map((name) => `'--${name} -'`).join(' and ')}: stdin is read once`);
  return problems;
};

/** The calibration as read, with its absolute path and digest. */
const readCalibration = (given: string, world: World) => {
  const named = resolve(world.cwd, given);
  const isRun = statSync(named, { throwIfNoEntry: false })?.isDirectory() === true;
  const [path, shown] = isRun
    ? [join(named, 'calibration.json'), join(given, 'calibration.json')]
    : [named, given];
  if (!existsSync(path))
    throw usage(`flag '--calibration': '${shown}' does not exist; 'k8sbench calibrate' makes one`);
  const text = readText(path, shown);
  const value = check(calibrationSchema, { value: parseJson(text, shown, usage) }, shown, usage);
  return { value, path, sha256: sha256(text) };
};

/** What only a local session has: its root, its programs, its commit, and what was chosen for it. */
const onThisMachine = (
  read: ReadProfile,
  profile: Profile,
  flags: PlanFlags,
  bundle: string | undefined,
  world: World,
) => {
  const machine = machineOf(world);
  const root = bundle === undefined ? BUILT_IN_ROOT : resolve(world.cwd, bundle);
  const runtime = read.builtIn ? withRuntime(profile, machine) : { profile };
  const measured = runtime.profile.targets.filter(
    (one) => flags.mode === 'compare' || one.role === 'reference',
  );
  const programs = programsOf(measured, { root, cwd: world.cwd }, machine);
  const commit = localCommit(root, bundle ?? root, profile, world);
  return {
    profile: runtime.profile,
    said: runtime.said === undefined ? [] : [runtime.said],
    commit,
    about: { host: world.host, root, cwd: world.cwd, programs: programs.paths },
    problems: [
      ...(existsSync(root) ? programs.problems : [`bundle '${bundle}' does not exist`]),
      ...pinProblems(flags.pin!, machine),
    ],
  };
};

/** What a session in a cluster can be told beforehand of its artifacts. */
const inCluster = (bundle: string | undefined, world: World) => {
  const directory = bundle === undefined ? undefined : resolve(world.cwd, bundle);
  const exists =
    directory === undefined || statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
  const commit = directory && exists ? commitOfArtifacts(directory, bundle!) : undefined;
  return {
    commit,
    problems: exists ? [] : [`bundle '${bundle}' is not a directory; 'k8sbench bundle' makes one`],
  };
};

/** The request that a command line makes. Problems end it with exit 2, a calibration that does not fit with exit 3. */
export const askedOf = async (flags: PlanFlags, world: World): Promise<Asked> => {
  const problems: string[] = [];
  const configuration = await configurationOf(world, flags);
  problems.push(...configuration.problems);
  const where = whereOf(flags, configuration);
  problems.push(...where.problems, ...flagProblems(flags, where));
  const { values } = where;
  const calibration =
    flags.calibration === undefined
      ? undefined
      : await part(problems, () => readCalibration(flags.calibration!, world));
  const read = await part(problems, () => readProfile(flags.profile!, world));
  if (!read) throw usage(problems);

  const turns = turnsOf(read.profile, flags, problems);
  const local =
    where.delivery === 'local' ? onThisMachine(read, read.profile, flags, values.bundle, world) : undefined;
  const remote = local ? undefined : inCluster(values.bundle, world);
  problems.push(...(local?.problems ?? []), ...(remote?.problems ?? []));
  const commit = local?.commit ?? remote?.commit;
  if (commit) problems.push(...commitProblems(commit, flags.commit));
  const controlled =
    flags.aa && flags.mode === 'compare' ? withControl(local?.profile ?? read.profile) : undefined;
  if (controlled && 'problem' in controlled) problems.push(controlled.problem);
  const profile =
    controlled && 'profile' in controlled ? controlled.profile : (local?.profile ?? read.profile);

  const about: Request['about'] = {
    ...local?.about,
    ...(where.nodes ? { nodes: where.nodes } : {}),
    ...(where.pickNode ? { pickNode: true } : {}),
    ...(where.spread === undefined ? {} : { spread: where.spread }),
    ...((flags.sessions ?? 1) > 1 ? { sessions: flags.sessions! } : {}),
    ...(commit?.commit === undefined ? {} : { commit: commit.commit }),
    gate: flags.gate as Run['gate'],
    maxCv: flags['max-cv']!,
    ...(calibration ? { calibration: { path: calibration.path, sha256: calibration.sha256 } } : {}),
    ...(flags.purpose === undefined ? {} : { purpose: flags.purpose }),
    session_s: sessionLimit(values.deadlineSeconds),
  };
  const request: Request = {
    session: {
      mode: flags.mode!,
      profile,
      turns,
      rounds: flags.rounds!,
      warmupRounds: flags['warmup-rounds']!,
      order: flags.order!,
      pin: flags.pin!,
      cpus: values.cpus,
      allowFrequencyScaling: flags['allow-frequency-scaling'],
      delivery: where.delivery,
      ...(flags.commit === undefined ? {} : { expectCommit: flags.commit }),
      limits: {
        step_s: flags['step-timeout']!,
        session_s: sessionLimit(values.deadlineSeconds),
        stdout_bytes: STDOUT_BYTES,
      },
    },
    about,
    values,
    children: where.spread ?? flags.sessions ?? 1,
  };
  problems.push(...sizeProblems(request));
  if (problems.length > 0) throw usage(problems);
  if (calibration) {
    const nodes = local ? [world.host] : where.pickNode ? undefined : where.nodes;
    const fit = calibrationFit(calibration.value, {
      profile: profile.name,
      turns,
      ...(nodes ? { nodes } : {}),
    });
    const unfit = fit.flatMap((size) => size.problems);
    if (unfit.length > 0) throw new Failure(EXIT.notJudged, unfit);
  }
  return { request, said: local?.said ?? [] };
};
