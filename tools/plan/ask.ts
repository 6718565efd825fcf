/** From a command line to a checked request: every problem of every part is found before any is told. */
import type { Profile } from '../../schemas/profile.ts';
import { type CalibrationFile, readCalibrationFile } from '../../shared/calibration-file.ts';
import { calibrationFit } from '../../shared/calibration-fit.ts';
import { countedBy } from '../../shared/sizes.ts';
import { DEFAULTS } from '../../shared/evidence/input.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, usage } from '../../shared/failure.ts';
import { readProfile } from '../../shared/profiles/read.ts';
import type { World } from '../../shared/world.ts';
import { type Artifacts, clusterArtifacts, localArtifacts } from './artifacts.ts';
import { commitProblems } from './commit.ts';
import { withReference } from '../../shared/bundle/named-image.ts';
import { configurationOf } from '../../shared/configuration.ts';
import { withCandidates } from './candidates.ts';
import { withControl } from './control.ts';
import { evidenceProblems, flagProblems } from './flag-problems.ts';
import type { PlanFlags } from './flags.ts';
import { type Advice, adviceFor, readEarlier } from './for-effect.ts';
import { imageArtifacts } from './image-artifacts.ts';
import { withKeptKubeconfig } from './kubeconfig-path.ts';
import { type Request, sessionLimit, STDOUT_BYTES } from './lay-down.ts';
import { stopRule } from './stop-rule.ts';
import { sizeProblems } from './size.ts';
import { whereOf, type Where } from '../../shared/where.ts';

export interface Asked {
  request: Request;
  /** What was decided for the user, one sentence each. */
  said: string[];
}

/** The size of a session when neither the command line nor the profile asks for one. */
const DEFAULT_TURNS = [3500];

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
  if (profile.repeat === undefined) return flags.turns ?? profile.turns ?? DEFAULT_TURNS;
  if (flags.turns !== undefined)
    problems.push(
      `flag '--turns': plain commands have no size but the number of their processes, ${profile.repeat}; set it in the profile, with 'k8sbench profile --repeat'`,
    );
  return [profile.repeat];
};

/** The profile with the control that `--aa` asks for. */
const controlled = (profile: Profile, flags: PlanFlags, problems: string[]): Profile => {
  if (!flags.aa || flags.mode === 'calibrate') return profile;
  const made = withControl(profile);
  if ('profile' in made) return made.profile;
  problems.push(made.problem);
  return profile;
};

const marginOf = ({ margin = DEFAULTS.margin }: PlanFlags): number => margin;

interface Parts {
  flags: PlanFlags;
  where: Where;
  artifacts: Artifacts;
  turns: number[];
  calibration: CalibrationFile | undefined;
  effect: Advice | undefined;
}

const requestOf = ({ flags, where, artifacts, turns, calibration, effect }: Parts): Request => {
  const { values } = where;
  const rounds = effect?.rounds ?? flags.rounds!;
  const session_s = sessionLimit(values.deadlineSeconds);
  const sessions = flags.sessions ?? 1;
  return {
    session: {
      mode: flags.mode!,
      profile: artifacts.profile,
      turns,
      rounds,
      warmupRounds: flags['warmup-rounds']!,
      order: flags.order!,
      pin: flags.pin!,
      cpus: values.cpus,
      allowFrequencyScaling: flags['allow-frequency-scaling'],
      delivery: where.delivery,
      ...(flags.commit === undefined ? {} : { expectCommit: flags.commit }),
      ...(flags['stop-when'] === undefined ? {} : { stopWhen: stopRule(rounds, marginOf(flags)) }),
      limits: { step_s: flags['step-timeout']!, session_s, stdout_bytes: STDOUT_BYTES },
    },
    about: {
      ...artifacts.about,
      ...(where.nodes ? { nodes: where.nodes } : {}),
      ...(where.pickNode ? { pickNode: true } : {}),
      ...(where.spread === undefined ? {} : { spread: where.spread }),
      ...(sessions > 1 ? { sessions } : {}),
      ...(artifacts.commit?.commit === undefined ? {} : { commit: artifacts.commit.commit }),
      gate: flags.gate!,
      maxCv: flags['max-cv']!,
      ...(flags.margin === undefined ? {} : { margin: flags.margin }),
      ...(calibration ? { calibration: { path: calibration.path, sha256: calibration.sha256 } } : {}),
      ...(effect ? { forEffect: effect.recorded } : {}),
      ...(flags.purpose === undefined ? {} : { purpose: flags.purpose }),
      session_s,
    },
    values,
    children: where.spread ?? sessions,
  };
};

/** A file that a flag names, as a problem of the command line. */
const flagged = (problems: string | readonly string[]): Failure =>
  usage([problems].flat().map((one) => `flag '--calibration': ${one}`));

/** Why the calibration does not vouch for this comparison; nodes that are not picked yet are asked about later. */
const unfitness = ({ value }: CalibrationFile, { session, about }: Request): string[] => {
  const nodes = about.host === undefined ? about.nodes : [about.host];
  const known = about.pickNode ? undefined : nodes;
  const { profile, turns } = session;
  const wanted = { profile: profile.name, turns, ...countedBy(profile.targets) };
  return calibrationFit(value, { ...wanted, ...(known ? { nodes: known } : {}) }).flatMap(
    (size) => size.problems,
  );
};

/** What an effect takes, when one is asked for; `rounds`: as many as were asked for beside it. */
const effectOf = (
  flags: PlanFlags,
  profile: Profile,
  turns: readonly number[],
  rounds: number | undefined,
  world: World,
): Advice | undefined => {
  const { 'for-effect': effect, from, power = DEFAULTS.power } = flags;
  if (effect === undefined || from === undefined || flags.mode === 'calibrate') return undefined;
  return adviceFor(readEarlier(from, world), {
    effect,
    margin: marginOf(flags),
    power,
    profile,
    turns,
    ...(rounds === undefined ? {} : { rounds }),
    looks: flags['stop-when'] !== undefined,
  });
};

/** Too few rounds for a look before the last. */
const stopProblems = ({ session: { rounds, stopWhen } }: Request): string[] =>
  stopWhen && stopWhen.looks.length < 2
    ? [`flag '--stop-when': ${rounds} rounds have no look before their end; plan 7 or more`]
    : [];

/**
 * The request that a command line makes; `written` are the flags as they were given. Problems end it with exit 2, a
 * calibration that does not fit with exit 3.
 */
export const askedOf = async (
  flags: PlanFlags,
  world: World,
  written: ReadonlyMap<string, readonly string[]> = new Map(),
): Promise<Asked> => {
  const { configuration, archive } = await withReference(await configurationOf(world, flags), world);
  const settled = whereOf(flags, configuration);
  const where = { ...settled, values: withKeptKubeconfig(settled.values, world.cwd) };
  const problems = [
    ...configuration.problems,
    ...where.problems,
    ...flagProblems(flags, where),
    ...evidenceProblems(flags, where),
  ];
  const { calibration: named } = flags;
  const calibration =
    named === undefined
      ? undefined
      : await part(problems, () => readCalibrationFile(named, world.cwd, flagged));
  const found = await part(problems, () => readProfile(flags.profile!, world));
  if (!found) throw usage(problems);
  const chosen = withCandidates(found.profile, flags.candidates);
  if ('problems' in chosen) throw usage([...problems, ...chosen.problems]);
  const read = { ...found, profile: chosen.profile };

  const { bundle } = where.values;
  const measured = { ...read, profile: controlled(read.profile, flags, problems) };
  const artifacts =
    where.delivery === 'local'
      ? localArtifacts(measured, bundle, flags, world)
      : archive
        ? await imageArtifacts(measured, archive, flags)
        : await clusterArtifacts(measured, bundle, flags, world);
  problems.push(...artifacts.problems);
  if (artifacts.commit) problems.push(...commitProblems(artifacts.commit, flags.commit));
  const turns = turnsOf(read.profile, flags, problems);
  const rounds = written.has('rounds') ? flags.rounds : undefined;
  const effect = await part(problems, () => effectOf(flags, measured.profile, turns, rounds, world));
  const request = requestOf({ flags, where, artifacts, turns, calibration, effect });
  problems.push(...stopProblems(request), ...sizeProblems(request));
  if (problems.length > 0) throw usage(problems);
  const unfit = calibration ? unfitness(calibration, request) : [];
  if (unfit.length > 0) throw new Failure(EXIT.notJudged, unfit);
  return { request, said: [...artifacts.said, ...(effect?.said ?? [])] };
};
