/** `--for-effect`: how many rounds and sessions an effect needs, from the noise that an earlier run had. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { analysis as analysisSchema, type Analysis, type Conclusion } from '../../schemas/analysis.ts';
import type { Profile } from '../../schemas/profile.ts';
import type { Run } from '../../schemas/run.ts';
import { DEFAULTS } from '../../shared/evidence/input.ts';
import { measuresOf } from '../../shared/evidence/measures.ts';
import { neededFor, type PairNoise, roundsWithLooks } from '../../shared/evidence/planning.ts';
import { EFFICIENCY } from '../../shared/evidence/power.ts';
import { pooled } from '../../shared/evidence/random-effects.ts';
import { usage } from '../../shared/failure.ts';
import { sha256 } from '../../shared/files.ts';
import { check, parseJson, readText } from '../../shared/read.ts';
import { atSize, countedBy } from '../../shared/sizes.ts';
import { mean } from '../../shared/statistics.ts';
import type { World } from '../../shared/world.ts';
import { percent } from '../../shared/percent.ts';

/** A run whose noise is known. */
export interface Earlier {
  shown: string;
  analysis: Analysis;
  recorded: { path: string; sha256: string };
}

/** The analysis of the run that `--from` names. */
export const readEarlier = (shown: string, world: World): Earlier => {
  const path = resolve(world.cwd, shown, 'analysis.json');
  if (!existsSync(path))
    throw usage(
      `flag '--from': '${shown}' has no analysis.json; name the directory of a run that was analyzed`,
    );
  const place = join(shown, 'analysis.json');
  const text = readText(path, place);
  const analysis = check(analysisSchema, { value: parseJson(text, place, usage) }, place, usage) as Analysis;
  return { shown, analysis, recorded: { path, sha256: sha256(text) } };
};

/** What is planned, as far as it decides how many rounds an effect needs. */
export interface Wish {
  effect: number;
  margin: number;
  power: number;
  profile: Profile;
  turns: readonly number[];
  /** Rounds asked for; absent: as many as are needed. */
  rounds?: number;
  /** Whether planned looks may end the session early. */
  looks: boolean;
}

/** What one conclusion says of the noise: the spread of one round, and where its estimate lies. */
interface Noisy {
  withinSd: number;
  betweenSd?: number;
  rounds: number;
  /** How many sessions, when they are judged together. */
  sessions?: number;
  ratio: number;
}

const noisyOf = ({ withinSd, betweenSd, ratio, rounds, sessions }: Conclusion): Noisy[] => {
  if (withinSd === undefined || ratio === null || !(ratio > 0)) return [];
  return [
    {
      withinSd,
      rounds,
      ratio,
      ...(sessions === undefined ? {} : { sessions }),
      ...(betweenSd === undefined ? {} : { betweenSd }),
    },
  ];
};

/** One question's noise: as its pooled conclusion says, or from its sessions one by one; between them from two on. */
export const noiseOf = (all: readonly Noisy[]): PairNoise => {
  const within = {
    withinSd: Math.sqrt(mean(all.map((one) => one.withinSd ** 2))),
    freedom: all.reduce((sum, one) => sum + Math.max(1, one.rounds - (one.sessions ?? 1)), 0),
  };
  const known = all.find((one) => one.betweenSd !== undefined)?.betweenSd;
  if (known !== undefined) return { ...within, betweenSd: known };
  if (all.length < 2) return within;
  const { between } = pooled(
    all.map((one) => Math.log(one.ratio)),
    all.map((one) => one.withinSd ** 2 / (one.rounds * EFFICIENCY)),
    DEFAULTS.level,
  );
  return { ...within, betweenSd: Math.sqrt(between) };
};

/** The noise of every question that the plan asks, or why the earlier run can't tell. Signed metrics have no noise in shares. */
const noises = ({ shown, analysis }: Earlier, { profile, turns }: Wish): PairNoise[] => {
  const problems: string[] = [];
  if (analysis.mode !== 'compare') problems.push('a calibration, which pairs nothing; name a comparison');
  else if (!analysis.judged) problems.push('not judged: there is nothing to conclude from its noise');
  else if (analysis.profile !== profile.name)
    problems.push(`of profile '${analysis.profile}', not of '${profile.name}'`);
  if (problems.length > 0) throw usage(problems.map((one) => `flag '--from': '${shown}' is ${one}`));
  const primary = measuresOf(profile).filter((one) => one.primary && !one.signed);
  const found = turns.flatMap((size) =>
    primary.map(({ key }) => ({
      name: `${key} ${atSize(size, countedBy(profile.targets))}`,
      of: Map.groupBy(
        analysis.conclusions.filter((one) => one.turns === size && one.metric === key),
        (one) => one.candidate,
      )
        .values()
        .map((its) => its.flatMap(noisyOf))
        .filter((its) => its.length > 0)
        .map(noiseOf)
        .toArray(),
    })),
  );
  const missing = found.filter((one) => one.of.length === 0).map((one) => one.name);
  if (missing.length > 0 || found.length === 0)
    throw usage(
      `flag '--from': '${shown}' has no ratio of ${missing.join(', ') || 'a primary metric'}; measure these once, with --aa`,
    );
  return found.flatMap((one) => one.of);
};

/** What an effect takes. */
export interface Advice {
  rounds: number;
  recorded: NonNullable<Run['forEffect']>;
  said: string[];
}

/** Rounds to plan, and the sentences about it. An effect that can't be told, or not with 10,000 rounds, is refused. */
export const adviceFor = (earlier: Earlier, wish: Wish): Advice => {
  const { effect, margin, power, profile, turns, looks } = wish;
  if (!(effect > margin))
    throw usage(
      `flag '--for-effect': ${percent(effect)} is not above the margin of ${percent(margin)}, up to which differences are the same; ` +
        'no number of rounds could tell it: name a larger effect, or a smaller --margin',
    );
  const all = noises(earlier, wish);
  const candidates = profile.targets.filter((one) => one.role === 'candidate').length;
  const questions = {
    effect,
    margin,
    power,
    family: candidates * turns.length * measuresOf(profile).filter((one) => one.primary).length,
  };
  const each = all.map((noise) => neededFor(noise, questions).rounds);
  if (each.includes(null))
    throw usage(
      `flag '--for-effect': ${percent(effect)} takes more than 10,000 rounds with the noise of '${earlier.shown}'; name a larger effect, or measure where it is quieter`,
    );
  const alone = Math.max(...(each as number[]));
  const needed = looks ? roundsWithLooks(alone) : alone;
  if (needed > 10_000)
    throw usage(
      `flag '--for-effect': ${percent(effect)} takes ${needed} rounds with planned looks; plan without --stop-when`,
    );
  const rounds = wish.rounds ?? needed;
  const sessions = all.map((noise) => neededFor(noise, { ...questions, rounds }).sessions);
  const most = Math.max(...all.map((one) => one.withinSd));
  const said = [
    `${percent(effect)} beyond a margin of ${percent(margin)}, found in ${percent(power)} of sessions: ${needed} rounds` +
      ` (from round to round '${earlier.shown}' varied by ${percent(most)}${looks ? `; without looks ${alone} would do` : ''})` +
      (rounds === needed ? '' : `; planned are ${rounds}, as asked`),
    all.some((one) => one.betweenSd === undefined)
      ? `how many sessions would say it of the program and not of one session alone is unknown: '${earlier.shown}' is one session`
      : sessions.includes(null)
        ? `more than 1,000 sessions of ${rounds} rounds would be needed to say it of the program: sessions differ too much`
        : `${Math.max(...(sessions as number[]))} sessions of ${rounds} rounds would say it of the program and not of one session alone`,
  ];
  return { rounds, recorded: { effect, power, rounds: needed, from: earlier.recorded }, said };
};
