/** The conclusions for a person, before any table: each sentence, what control and CPU time show beside it, where the tracker differs. Pure. */
import type { Analysis, Conclusion } from '../../schemas/analysis.ts';
import { type Colour, type Paint, plainText } from '../../shared/terminal.ts';

const COLOURS: Readonly<Record<Conclusion['conclusion'], Colour>> = {
  faster: 'green',
  slower: 'red',
  same: 'bold',
  'cant-tell': 'yellow',
};

/** Wall metric → the CPU time of the same work. */
const TWINS: Readonly<Record<string, string>> = { warm: 'cpuWarm', cold: 'cpuCold' };

/** On shared cores wall times are informational, so the CPU time of the same work is said too; of sessions together in one line. */
const twinsOf = (
  { gate, sessions, shown = [] }: Analysis,
  { metric, candidate, turns, session }: Conclusion,
): string[] => {
  if (gate !== 'cpu') return [];
  const twins = shown.filter(
    (one) =>
      one.metric === TWINS[metric] &&
      one.candidate === candidate &&
      one.turns === turns &&
      (session === undefined || one.session === session),
  );
  if (session !== undefined || sessions.length === 1 || twins.length < 2)
    return twins.map((one) => one.sentence);
  const ratios = twins.map(({ ratio }) => ratio?.toFixed(2) ?? '–').join(', ');
  return [
    `ratios of ${candidate} on ${TWINS[metric]} (CPU), session by session: ${ratios}; not a primary metric`,
  ];
};

/** What the control pair showed in the same rounds. */
const controlOf = ({ control }: Conclusion): string[] =>
  control ? [`  ${plainText(control.sentence)}`] : [];

/** Nothing for a run without conclusions. Names in sentences are foreign text. */
export const conclusionsText = (analysis: Analysis, paint: Paint): string =>
  analysis.conclusions
    .flatMap((one) => [
      paint(COLOURS[one.conclusion], plainText(one.sentence)),
      ...controlOf(one),
      ...twinsOf(analysis, one).map((text) => `  ${plainText(text)}`),
      ...(one.disagreement === undefined ? [] : [`  ${plainText(one.disagreement)}`]),
    ])
    .map((line) => `${line}\n`)
    .join('');
