/** analysis.json and what is written beside it, from a run's sessions. Pure. */
import type { Analysis, Comparison, Session as SessionAbout } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import type { Noise } from '../../schemas/noise.ts';
import { EXIT } from '../../shared/exit.ts';
import { atSize, type Counted, countedBy } from '../../shared/sizes.ts';
import { VERSION } from '../../shared/version.ts';
import { addThrottles, calibrationSize, noisyNodes } from './calibrate.ts';
import { besideVerdict } from './agreement.ts';
import { editedManifests, shortTimes } from './doubts.ts';
import { evidenceOfRun } from './evidence.ts';
import { badOf } from './fail-on.ts';
import { identitiesOf } from './identities.ts';
import { adviceFor, comparisonsOf, gateOf, judged, referenceNoise, refusals } from './judge.ts';
import { measuredTargets } from './measured-profile.ts';
import { type Gate, writtenNoise } from './noise.ts';
import type { Request } from './request.ts';
import type { ReadSession } from './sources.ts';

/** An analysis before the files beside it are written, and their content. */
export interface Result {
  analysis: Omit<Analysis, 'outputs' | 'earlierAttempts'>;
  noise?: Noise;
  calibration?: Calibration;
}

/** What the evidence says beside the verdicts. */
type Evidence = Pick<Analysis, 'conclusions' | 'doubts' | 'shown'>;

interface Verdict {
  judged: boolean;
  exit: Analysis['exit'];
  reasons: string[];
  advice: string[];
}

/** The run's id: as its directory says, else as its first log does. */
export const runId = ({ run }: Request, sessions: readonly ReadSession[]): string =>
  run.id ?? sessions[0]!.facts.run;

const aboutSession = ({ data, facts, pin, profile }: ReadSession): SessionAbout => ({
  run: facts.run,
  node: facts.node,
  nodeType: data.nodeTypes[0] ?? {
    cpuModel: facts.cpuModel,
    cpuFeatures: facts.cpuFeatures,
    gomaxprocs: pin.gomaxprocs,
  },
  cpuSet: facts.cpuSet,
  cpus: pin.cpus,
  fixedClock: pin.fixedClock,
  delivery: facts.delivery,
  commit: facts.commit,
  started_at: facts.at,
  ...(data.stopped === undefined ? {} : { stopped: data.stopped }),
  foreignLines: data.log!.foreignLines,
  throttle: Object.fromEntries(
    measuredTargets(profile, facts.mode).map(({ name }) => [
      name,
      addThrottles(facts.turns.map((turns) => data.samples(name, turns).throttle)),
    ]),
  ),
});

/** Everything but the digests of the other outputs, in the order it is written. */
const assembled = (
  request: Request,
  sessions: readonly ReadSession[],
  inputs: Record<string, string>,
  gate: Gate,
  verdict: Verdict,
  found: Pick<Analysis, 'incomplete' | 'noise' | 'comparisons'> & Partial<Evidence>,
): Result['analysis'] => {
  const { facts, profile } = sessions[0]!;
  const { doubts = [], conclusions = [], shown, ...before } = found;
  return {
    format: 'analysis/1',
    run: runId(request, sessions),
    mode: facts.mode,
    profile: facts.profile,
    rule: facts.rule,
    measured_at: facts.at,
    commit: facts.commit,
    gate,
    maxCv: request.settings.maxCv,
    ...verdict,
    turns: facts.turns,
    ...countedBy(profile.targets),
    rounds: facts.rounds,
    sessions: sessions.map(aboutSession),
    ...before,
    metrics: profile.metrics.map(({ key, unit, better, signed }) => ({
      key,
      unit,
      better,
      ...(signed ? { signed } : {}),
    })),
    identities: identitiesOf(facts, profile),
    doubts: [...editedManifests(sessions.map(({ source }) => source.edited ?? [])), ...doubts],
    conclusions,
    ...(shown ? { shown } : {}),
    settings: { ...request.settings, k8sbench: VERSION },
    inputs,
  };
};

/** The evidence beside the tracker's verdicts. Short times are told once, in the words that name every one of them. */
const withVerdicts = (
  evidence: Required<Evidence>,
  comparisons: readonly Comparison[],
  counted: Counted,
): Evidence => {
  const short = shortTimes(comparisons, counted);
  return {
    ...evidence,
    doubts: [...short, ...evidence.doubts.filter((one) => short.length === 0 || one.name !== 'short')],
    // A verdict is about the whole run; one session of a few is not.
    conclusions: evidence.conclusions.map((one) =>
      one.session === undefined ? besideVerdict(one, comparisons, counted) : one,
    ),
  };
};

/** A comparison whose sessions are whole and like for like; how many attempts before it were refused or void weakens it. */
export const comparisonAnalysis = (
  request: Request,
  sessions: readonly ReadSession[],
  inputs: Record<string, string>,
  refusedBefore: (outcome: 'judged' | 'refused') => number,
): Result => {
  const gate = gateOf(request.settings.gate, sessions);
  const noise = referenceNoise(sessions, gate);
  const { reasons, advice } = refusals(sessions, noise, gate, request);
  const accepted = reasons.length === 0;
  const measured = comparisonsOf(sessions);
  const comparisons = accepted ? judged(measured, sessions[0]!) : measured;
  const { calibration, settings } = request;
  const refusedAttempts = refusedBefore(accepted ? 'judged' : 'refused');
  const question = { margin: settings.margin, refusedAttempts };
  const counted = countedBy(sessions[0]!.profile.targets);
  const evidence = withVerdicts(evidenceOfRun(sessions, question, accepted), comparisons, counted);
  const bad = badOf(evidence.conclusions, settings.failOn).length > 0;
  const exit = !accepted ? EXIT.notJudged : bad ? EXIT.judgedBad : EXIT.done;
  const verdict = { judged: accepted, exit, reasons, advice };
  return {
    analysis: assembled(request, sessions, inputs, gate, verdict, { noise, comparisons, ...evidence }),
    noise: {
      format: 'noise/1',
      run: runId(request, sessions),
      profile: sessions[0]!.facts.profile,
      gate,
      maxCv: request.settings.maxCv,
      judged: accepted,
      reasons,
      sizes: Object.fromEntries(Object.entries(noise).map(([turns, one]) => [turns, writtenNoise(one)])),
      ...(calibration ? { calibration: { path: calibration.path, sha256: calibration.sha256 } } : {}),
      inputs,
    },
  };
};

/** A calibration whose sessions are whole and like for like. */
export const calibrationAnalysis = (
  request: Request,
  sessions: readonly ReadSession[],
  inputs: Record<string, string>,
): Result => {
  const { facts, profile } = sessions[0]!;
  const counted = countedBy(profile.targets);
  const gate = gateOf(request.settings.gate, sessions);
  const { maxCv } = request.settings;
  const sizes = facts.turns.map((turns) => ({ turns, ...calibrationSize(sessions, turns, gate, maxCv) }));
  const over = sizes.filter(({ written }) => written.judged && !written.pass);
  const verdict: Verdict = {
    judged: sizes.every(({ written }) => written.judged),
    exit: over.length > 0 ? EXIT.notJudged : EXIT.done,
    reasons: sizes.flatMap(({ turns, written }) => [
      ...written.problems.map((one) => `${atSize(turns, counted)}: ${one}`),
      ...noisyNodes(written).map((one) => `${atSize(turns, counted)}: ${one}`),
    ]),
    advice: adviceFor(new Set(over.flatMap((one) => one.kinds)), gate),
  };
  return {
    analysis: assembled(request, sessions, inputs, gate, verdict, {
      noise: Object.fromEntries(sizes.map(({ turns, noise }) => [String(turns), noise])),
      comparisons: [],
    }),
    calibration: {
      format: 'calibration/1',
      run: runId(request, sessions),
      at: facts.at,
      profile: facts.profile,
      rule: facts.rule,
      commit: facts.commit,
      delivery: facts.delivery,
      image: facts.image,
      bundleSha256: facts.bundleSha256,
      artifacts: facts.artifacts,
      gate,
      maxCv,
      sizes: Object.fromEntries(sizes.map(({ turns, written }) => [String(turns), written])),
      inputs,
    },
  };
};

/** A run that must not be judged, or whose log is not whole: what is there, without verdicts. */
export const unjudgedAnalysis = (
  request: Request,
  sessions: readonly ReadSession[],
  inputs: Record<string, string>,
  why: { invalid: string[] } | { incomplete: string[] },
): Result => {
  const gate = gateOf(request.settings.gate, sessions);
  const invalid = 'invalid' in why;
  const verdict: Verdict = {
    judged: false,
    exit: invalid ? EXIT.invalid : EXIT.notJudged,
    reasons: invalid ? why.invalid : why.incomplete,
    advice: [
      invalid ? 'remove the cause, then measure again' : 'measure again: an incomplete log is never judged',
    ],
  };
  return {
    analysis: assembled(request, sessions, inputs, gate, verdict, {
      ...(invalid ? {} : { incomplete: why.incomplete }),
      noise: referenceNoise(sessions, gate),
      comparisons: sessions[0]!.facts.mode === 'compare' ? comparisonsOf(sessions) : [],
    }),
  };
};
