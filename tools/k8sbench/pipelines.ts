/** The three pipelines. Each flag belongs to the tool that has it; what is left out is set by the pipeline, or useless in it. */
import { run as runSchema } from '../../schemas/run.ts';
import { EXIT } from '../../shared/exit.ts';
import { openRun } from '../../shared/rundir.ts';
import { tool as analyze } from '../analyze/main.ts';
import { tool as pickNodes } from '../pick-nodes/main.ts';
import { tool as plan } from '../plan/main.ts';
import { tool as profile } from '../profile/main.ts';
import { tool as render } from '../render/main.ts';
import { tool as runSession } from '../run-session/main.ts';
import { tool as tracker } from '../tracker/main.ts';
import type { Link } from './links.ts';
import { definePipeline, type Pipeline } from './pipeline.ts';

const exits = [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notJudged, EXIT.invalid, EXIT.interrupted] as const;
const concluding = [...exits.slice(0, 4), EXIT.judgedBad, ...exits.slice(4)] as const;

const making: Link = {
  tool: profile,
  leave: ['list', 'json', 'remove-builds'],
  optional: true,
  takes: 'nothing',
};
/** What only a comparison can be asked. */
const OF_COMPARISONS = ['margin', 'for-effect', 'from', 'power', 'stop-when', 'fail-on'];
const planning = (mode: string): Link => ({
  tool: plan,
  fixed: mode === 'compare' ? [] : ['--mode', mode],
  fed: ['--profile', '-'],
  leave: ['mode', 'dry-run', 'force', ...(mode === 'compare' ? [] : OF_COMPARISONS)],
  takes: 'stdin',
});
const picking: Link = {
  tool: pickNodes,
  leave: ['run', 'from', 'arch', 'json', 'out', 'dry-run', 'force'],
  takes: 'run',
};
const rendering: Link = { tool: render, leave: ['run', 'out'], takes: 'run' };
const PLACE = ['values', 'kubeconfig', 'context', 'namespace'];
const measuring: Link = {
  tool: runSession,
  // Where it is measured stands in the run's values.json.
  leave: ['run', 'detach', 'dry-run', 'edited-manifest', ...PLACE, 'force', 'json'],
  takes: 'run',
};
const judging: Link = {
  tool: analyze,
  leave: ['run', 'log', 'out', 'json', 'force', 'allow-incomplete'],
  takes: 'run',
  judges: true,
};
const recording: Link = {
  tool: tracker,
  words: ['append'],
  leave: ['run', 'rule', 'turns', 'last', 'json', 'metric', 'within', 'fail-on'],
  takes: 'run',
  judges: true,
};
/** Whether the history that the run was recorded in changed, when that is asked for. */
const watching: Link = {
  tool: tracker,
  words: ['changes'],
  leave: Object.keys(tracker.flags).filter((name) => name !== 'within'),
  shares: { flag: 'fail-on', words: ['change'] },
  also: ['track'],
  optional: true,
  beside: true,
  takes: 'run',
};

/** From a profile to a line in the history. */
export const LINKS = [
  making,
  planning('compare'),
  picking,
  rendering,
  measuring,
  judging,
  recording,
  watching,
];

/** On this machine no node is picked and no Job rendered; in a cluster a node is picked when that was asked for. */
const settled =
  (links: readonly Link[]): NonNullable<Pipeline['settle']> =>
  async (given) => {
    const picks = given.has('pick-node') || given.has('spread');
    const left = (link: Link): boolean =>
      given.has('local') ? link === picking || link === rendering : link === picking && !picks;
    return { links: links.filter((link) => !left(link)), given };
  };

export const compare = definePipeline({
  name: 'compare',
  about: 'plans, measures, judges and records a comparison',
  links: LINKS,
  settle: settled(LINKS),
  more: `PRINTS

  the tracker's lines, one per size and candidate; tables and explanations on stderr

EXAMPLES

  k8sbench compare --local
  k8sbench compare --local --reference 'sort -n data' --candidate 'sort -n --parallel=2 data'
  k8sbench compare --local --old main --new WORKTREE --build 'make -j2' --sample './bin/app data'
  k8sbench compare --bundle DIR --pick-node --reference 'node {root}/old.mjs' --candidate 'node {root}/new.mjs'
  k8sbench compare --local --bundle agents --profile overhead-pi --candidate codex --turns 8
  k8sbench compare --local --rounds 12 --explain
  k8sbench compare --local --margin 2% --fail-on slower,cant-tell
  k8sbench compare --local --purpose main --fail-on change --within 5`,
  exits: concluding,
});

type Given = Parameters<NonNullable<Pipeline['settle']>>[0];

/** Every profile has a candidate; a calibration never starts it, so the reference's own command will do. */
const withCandidate = (given: Given): Given => {
  const reference = given.get('reference');
  return reference && !given.has('candidate') ? new Map([...given, ['candidate', reference]]) : given;
};

const CALIBRATION = [
  making,
  planning('calibrate'),
  picking,
  rendering,
  measuring,
  { ...judging, leave: [...judging.leave, ...OF_COMPARISONS] },
];

export const calibrate = definePipeline({
  name: 'calibrate',
  about: "measures the reference alone: the noise floor that a comparison's nodes have",
  links: CALIBRATION,
  settle: (given, world) => settled(CALIBRATION)(withCandidate(given), world),
  more: `PRINTS

  the run directory's path; its calibration.json is what 'k8sbench compare --calibration' takes

EXAMPLES

  k8sbench calibrate --local --rounds 12
  k8sbench calibrate --local --reference 'sort -n data'`,
  exits,
});

const judgingAgain: Link = {
  ...judging,
  leave: judging.leave.filter((name) => name !== 'run' && name !== 'force'),
  takes: 'nothing',
};

export const report = definePipeline({
  name: 'report',
  about: 'judges a finished run again, with other flags, and records it again',
  links: [judgingAgain, recording, watching],
  async settle(given, world) {
    const run = await openRun(given.get('run')?.[0], world);
    const calibration = run.has('run.json') && run.json('run.json', runSchema).mode === 'calibrate';
    return {
      // A calibration has no line in the history.
      links: calibration ? [judgingAgain] : [judgingAgain, recording, watching],
      given: new Map([...given, ['run', [run.shown]]]),
    };
  },
  more: `PRINTS

  the tracker's lines; the newest line of a run is the one that counts

EXAMPLE

  k8sbench report --run out/RUN --max-cv 0.1 --baseline baseline.json`,
  exits: concluding,
});
