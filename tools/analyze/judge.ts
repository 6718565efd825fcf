/** A comparison's numbers and whether they may be reported (spec §6, §7). Pure. */
import type { Comparison } from '../../schemas/analysis.ts';
import type { SizeNoise } from '../../schemas/noise.ts';
import { candidateRule } from '../../schemas/profile.ts';
import { addThrottles } from './calibrate.ts';
import { calibrationProblems } from './calibration-check.ts';
import {
  candidatesOf,
  floorOf,
  type MeasuredTarget,
  measuredTargets,
  referenceOf,
} from './measured-profile.ts';
import { type Gate, type GateProblem, gateProblems, medianNoise, noiseOf } from './noise.ts';
import type { Samples } from './samples.ts';
import { atSize, countedBy } from '../../shared/sizes.ts';
import type { Request } from './request.ts';
import type { ReadSession } from './sources.ts';
import { besideOf, medianValues, valuesOf, verdictsOf } from './values.ts';

/** `auto` is wall when every session had exclusive cores, else cpu (spec §6). */
export const gateOf = (asked: 'auto' | Gate, sessions: readonly ReadSession[]): Gate => {
  if (asked !== 'auto') return asked;
  return sessions.every((one) => one.facts.cpuSet === 'exclusive') ? 'wall' : 'cpu';
};

/** The reference's noise at each size, exact: the median over sessions. */
export const referenceNoise = (sessions: readonly ReadSession[], gate: Gate): Record<string, SizeNoise> =>
  Object.fromEntries(
    sessions[0]!.facts.turns.map((turns) => [
      String(turns),
      medianNoise(
        sessions.map((one) =>
          noiseOf(one.data.samples(referenceOf(one.profile).name, turns), gate, one.profile.metrics),
        ),
      ),
    ]),
  );

/** Every size's candidates in the profile's order, unjudged: without verdicts. */
export const comparisonsOf = (sessions: readonly ReadSession[]): Comparison[] => {
  const { facts, profile } = sessions[0]!;
  return facts.turns.flatMap((turns) =>
    candidatesOf(profile).map((candidate) => comparisonOf(sessions, candidate, turns)),
  );
};

const comparisonOf = (
  sessions: readonly ReadSession[],
  candidate: MeasuredTarget,
  turns: number,
): Comparison => {
  const { profile, facts } = sessions[0]!;
  const reference = referenceOf(profile);
  const floor = floorOf(profile);
  const side = (session: ReadSession, name: string) => ({
    samples: session.data.samples(name, turns),
    seed: session.data.seedOf(name, turns),
  });
  const floorOfSession = (session: ReadSession): Samples | undefined =>
    floor ? session.data.samples(floor.name, turns) : undefined;
  const mine = sessions.map((one) => one.data.samples(candidate.name, turns));
  return {
    candidate: candidate.name,
    reference: reference.name,
    ...(floor ? { floor: floor.name } : {}),
    rule: candidateRule(profile, candidate),
    turns,
    fingerprint: sessions[0]!.data.seedOf(candidate.name, turns)?.fingerprint ?? 'unknown',
    warmTurns: mine.reduce((sum, one) => sum + (one.warmTurns.summary?.n ?? 0), 0),
    samples: mine.reduce((sum, one) => sum + one.count, 0),
    values: medianValues(
      sessions.map((one) =>
        valuesOf(side(one, candidate.name), side(one, reference.name), floorOfSession(one), profile.metrics),
      ),
    ),
    beside: medianValues(sessions.map((one) => besideOf(side(one, reference.name), floorOfSession(one)))),
    verdicts: {},
    throttle: Object.fromEntries(
      measuredTargets(profile, facts.mode).map(({ name }) => [
        name,
        addThrottles(sessions.map((one) => one.data.samples(name, turns).throttle)),
      ]),
    ),
  };
};

/** The same comparisons with this run's verdicts. */
export const judged = (comparisons: readonly Comparison[], session: ReadSession): Comparison[] =>
  comparisons.map((one) => ({ ...one, verdicts: verdictsOf(one.values, session.profile.metrics) }));

/** Why a comparison may not be reported and what to do about it; empty when it may. */
export const refusals = (
  sessions: readonly ReadSession[],
  noise: Readonly<Record<string, SizeNoise>>,
  gate: Gate,
  { settings: { maxCv }, calibration }: Request,
): { reasons: string[]; advice: string[] } => {
  const { profile, facts } = sessions[0]!;
  const gated = Object.entries(noise).flatMap(([turns, one]) =>
    gateProblems(one, gate, maxCv).map(({ kind, sentence }) => ({
      kind,
      sentence: `'${referenceOf(profile).name}' ${atSize(Number(turns), countedBy(profile.targets))}: ${sentence}`,
    })),
  );
  const unfit = calibration
    ? calibrationProblems(calibration.content, {
        profile: profile.name,
        metrics: profile.metrics,
        turns: facts.turns,
        ...countedBy(profile.targets),
        nodes: sessions.map((one) => one.facts.node),
        gate,
        maxCv,
      })
    : [];
  const scalingNodes = new Set(sessions.filter((one) => !one.pin.fixedClock).map((one) => one.facts.node));
  const scaling = [...scalingNodes].map(
    (node) => `the measured cores of node '${node}' scale their clock: reported, never judged`,
  );
  const kinds = new Set<Refusal>(gated.map((one) => one.kind));
  if (unfit.length > 0) kinds.add('calibration');
  if (scaling.length > 0) kinds.add('scaling');
  return {
    reasons: [...gated.map((one) => one.sentence), ...unfit, ...scaling],
    advice: adviceFor(kinds, gate),
  };
};

type Refusal = GateProblem['kind'] | 'calibration' | 'scaling';

/** What to do next, one sentence for each kind of refusal. */
export const adviceFor = (kinds: ReadonlySet<Refusal>, gate: Gate): string[] => {
  const advice: Readonly<Record<Refusal, string>> = {
    noisy:
      'measure again while the machine is quieter, on another node, or with more work per turn' +
      (gate === 'wall' ? '; --gate cpu holds CPU times alone to the limit' : ''),
    unmeasured:
      "make it measurable: CPU time needs a cgroup of the session's own, warm times two turns or more per sample",
    few: 'measure at least 3 rounds',
    calibration: 'calibrate these nodes for this profile and these sizes, or compare on nodes that are',
    scaling: "choose a node whose cores have no cpufreq governor or 'performance'",
  };
  return (Object.keys(advice) as Refusal[]).filter((kind) => kinds.has(kind)).map((kind) => advice[kind]);
};
