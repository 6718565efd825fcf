/** JUnit XML: each conclusion a test, so that CI systems show it among the others. Pure. */
import type { Analysis, Conclusion, FailOn } from '../../../schemas/analysis.ts';
import { EXIT } from '../../../shared/exit.ts';
import { groupedDoubts } from '../../../shared/grouped-doubts.ts';
import { atItsSize } from '../../../shared/sizes.ts';
import type { Format } from '../format.ts';
import type { Material } from '../material.ts';
import { junitOfTrials } from './junit-trials.ts';
import { xml } from './xml.ts';

type Outcome = { kind: 'passed' } | { kind: 'failure' | 'error' | 'skipped'; message: string };

interface Case {
  name: string;
  outcome: Outcome;
  /** What is to be read beside it. */
  said: string;
}

/** What each word of `--fail-on` takes for bad; a conclusion that nobody named fails when it is slower. */
const isBad = ({ conclusion }: Conclusion, failOn: readonly FailOn[]): boolean =>
  failOn.some((one) =>
    one === 'slower'
      ? conclusion === 'slower'
      : one === 'not-faster'
        ? conclusion !== 'faster'
        : conclusion === one,
  );

const caseOf = (one: Conclusion, analysis: Analysis, failOn: readonly FailOn[]): Case => {
  const session = one.session === undefined ? '' : `, ${one.session}`;
  const outcome: Outcome = isBad(one, failOn)
    ? { kind: 'failure', message: one.sentence }
    : { kind: 'passed' };
  return {
    name: `${one.metric} of ${one.candidate}${atItsSize(one.turns, analysis)}${session}`,
    outcome,
    said: one.sentence,
  };
};

/** The questions of a run without conclusions, all with the same outcome. */
const unanswered = (analysis: Analysis, outcome: Outcome, said: string): Case[] =>
  analysis.comparisons.map((one) => ({
    name: `${one.candidate} against ${one.reference}${atItsSize(one.turns, analysis)}`,
    outcome,
    said,
  }));

const comparisonCases = (analysis: Analysis): Case[] => {
  const { exit, judged, reasons, advice, conclusions, comparisons, settings, origin } = analysis;
  const message = reasons.join('; ') || 'not judged';
  const said = [...reasons, ...advice].join('\n');
  if (exit === EXIT.invalid) return unanswered(analysis, { kind: 'error', message }, said);
  if (!judged && origin === undefined) return unanswered(analysis, { kind: 'skipped', message }, said);
  const failOn = settings.failOn ?? ['slower'];
  if (conclusions.length > 0) return conclusions.map((one) => caseOf(one, analysis, failOn));
  return comparisons.map((one) => ({
    name: `${one.candidate} against ${one.reference}${atItsSize(one.turns, analysis)}`,
    outcome: { kind: 'passed' },
    said: `the tracker's verdicts: ${Object.entries(one.verdicts)
      .map(([name, verdict]) => `${name} ${verdict}`)
      .join(', ')}`,
  }));
};

/** What a run comes to that has not even a question in it. */
const ofTheRun = ({ run, exit, reasons, advice }: Analysis): Case => {
  const message = reasons.join('; ') || 'not judged';
  return {
    name: run,
    outcome: { kind: exit === EXIT.invalid ? 'error' : 'skipped', message },
    said: [...reasons, ...advice].join('\n'),
  };
};

/** A calibration: each size is quiet enough, or not, or too short to tell. */
const calibrationCases = ({ analysis, calibration }: Material): Case[] =>
  Object.entries(calibration?.sizes ?? {}).map(([turns, { judged, pass, problems }]) => {
    const message = problems.join('; ');
    return {
      name: `noise${atItsSize(Number(turns), analysis)}`,
      outcome: !judged
        ? { kind: 'skipped', message: message || 'too short to tell' }
        : pass
          ? { kind: 'passed' }
          : { kind: 'failure', message: message || 'over the limit' },
      said: problems.join('\n'),
    };
  });

const caseText = (suite: string, { name, outcome, said }: Case): string => {
  const inner =
    outcome.kind === 'passed'
      ? ''
      : outcome.kind === 'skipped'
        ? `<skipped message="${xml(outcome.message)}"/>`
        : `<${outcome.kind} message="${xml(outcome.message)}" type="k8sbench">${xml(outcome.message)}</${outcome.kind}>`;
  const lines = said.split('\n').map(xml).join('\n');
  return `    <testcase classname="${xml(suite)}" name="${xml(name)}" time="0">${inner}<system-out>${lines}</system-out></testcase>\n`;
};

export const junit: Format = {
  about: 'JUnit XML, a test for each conclusion or trial; what was not judged is skipped with the reason',
  holds: 'outcome',
  trials: junitOfTrials,
  text(material) {
    const { analysis } = material;
    const found = analysis.mode === 'calibrate' ? calibrationCases(material) : comparisonCases(analysis);
    // An empty suite is a green one.
    const cases = found.length > 0 ? found : [ofTheRun(analysis)];
    const count = (kind: Outcome['kind']): number => cases.filter((one) => one.outcome.kind === kind).length;
    const counts = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`;
    const suite = `k8sbench.${analysis.rule}`;
    const properties = [
      ['run', analysis.run],
      ['profile', analysis.profile],
      ['commit', analysis.commit],
      ...groupedDoubts(analysis, analysis.doubts).map(
        ({ doubt: { name, sentence }, sessions }) =>
          [
            `doubt.${name}`,
            sessions.length === 0 ? sentence : `${sentence} (${sessions.join(', ')})`,
          ] as const,
      ),
    ]
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `      <property name="${xml(name!)}" value="${xml(value!)}"/>\n`);
    return (
      `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="k8sbench" ${counts} time="0">\n` +
      `  <testsuite name="${xml(suite)}" ${counts} time="0" timestamp="${analysis.measured_at.slice(0, 19)}" hostname="${xml(analysis.sessions[0]?.node || 'unknown')}">\n` +
      `    <properties>\n${properties.join('')}    </properties>\n` +
      `${cases.map((one) => caseText(suite, one)).join('')}  </testsuite>\n</testsuites>\n`
    );
  },
};
