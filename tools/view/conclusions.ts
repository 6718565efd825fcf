/** What is said of a run, first: conclusions with the tracker's verdicts beside them, or why there are none. Pure. */
import type { Analysis, Comparison, Conclusion } from '../../schemas/analysis.ts';
import { EXIT } from '../../shared/exit.ts';
import type { Judged } from '../../shared/evidence/input.ts';
import { markup, htmlTable, type Markup } from './markup.ts';
import { shortNames } from './names.ts';

/** A conclusion's word, how it looks, and a sign that needs no colour. */
const WORDS: Readonly<Record<Conclusion['conclusion'], { text: string; plain: string; look: string }>> = {
  faster: { text: '▲ faster', plain: 'faster', look: 'good' },
  slower: { text: '▼ slower', plain: 'slower', look: 'bad' },
  same: { text: '= same', plain: 'the same', look: 'even' },
  'cant-tell': { text: "? can't tell", plain: "can't tell", look: 'open' },
};

/** Sample metrics that the tracker knows by another name. */
const TRACKER_NAMES: Readonly<Record<string, string>> = { peakRss: 'peakRssMB', retained: 'retainedMB' };

export const comparisonOf = (
  { comparisons }: Analysis,
  one: { candidate: string; turns: number },
): Comparison | undefined =>
  comparisons.find(({ candidate, turns }) => candidate === one.candidate && turns === one.turns);

const verdictOf = (analysis: Analysis, one: Conclusion): string | undefined =>
  comparisonOf(analysis, one)?.verdicts[TRACKER_NAMES[one.metric] ?? one.metric];

/** Why the two layers differ, where the analysis says so. */
const explained = (one: Conclusion): string | undefined => {
  const { disagreement } = one as { disagreement?: unknown };
  return typeof disagreement === 'string' ? disagreement : undefined;
};

/** What stands beside a conclusion: its session, the tracker's verdict, the same program twice. */
const besideOf = (analysis: Analysis, one: Conclusion): string => {
  const verdict = verdictOf(analysis, one);
  const { control } = one as Judged;
  const twice = control?.differs ? 'which differs' : 'no difference';
  return [
    ...(verdict === undefined ? [] : [`the tracker's verdict: ${verdict}`]),
    ...(explained(one) === undefined ? [] : [explained(one)!]),
    ...(control && control.ratio !== null
      ? [`the same program twice: ratio ${control.ratio.toFixed(3)}, ${twice}`]
      : []),
  ].join('; ');
};

const sign = ({ conclusion }: Conclusion): Markup =>
  markup`<span class="word ${WORDS[conclusion].look}">${WORDS[conclusion].text}</span>`;

/** One conclusion: the sentence a person would quote, and what stands beside it. */
const conclusionCard = (analysis: Analysis, one: Conclusion): Markup => {
  const beside = besideOf(analysis, one);
  return markup`<div class="card ${WORDS[one.conclusion].look}"><p class="says">${sign(one)}${one.sentence}</p>${
    beside !== '' && markup`<p class="beside">${beside}</p>`
  }</div>
`;
};

/** The same in a line, where the metric is shown. */
export const conclusionLine = (one: Conclusion): Markup => markup`<p>${sign(one)}${one.sentence}</p>
`;

/** Several conclusions in a few words: who, against whom, how often which. */
const counted = ({ conclusions, comparisons }: Analysis): string => {
  const about = [...new Set(comparisons.map((one) => `${one.candidate} against ${one.reference}`))].join(
    ', ',
  );
  const counts = Object.entries(WORDS).flatMap(([word, { plain }]) => {
    const count = conclusions.filter((one) => one.conclusion === word).length;
    return count === 0 ? [] : [`${plain} ${count} of ${conclusions.length}`];
  });
  return `${about}: ${counts.join(', ')}`;
};

const list = (items: readonly string[]): Markup =>
  markup`<ul>
    ${items.map((one) => markup`<li>${one}</li>`)}
  </ul>`;

/** The heading of a run that has no conclusions to put there. */
const headingOf = ({ exit, judged, mode, ...more }: Analysis): string => {
  if (exit === EXIT.invalid) return 'Invalid: this run must not be judged';
  if (mode === 'calibrate') {
    if (exit === EXIT.notJudged) return 'Calibrated: over the limit';
    return judged ? 'Calibrated: within the limit' : 'Calibrated, not judged';
  }
  if (more.origin === 'imported') return 'Imported: nothing to conclude';
  return judged ? 'Judged, without conclusions' : 'Not judged';
};

/** The first thing on the page. */
export const headline = (analysis: Analysis): Markup => {
  const { conclusions, judged, reasons, advice, exit, origin } = analysis;
  const refused = !judged && origin !== 'imported';
  const bad = exit === EXIT.invalid || exit === EXIT.notJudged;
  if (!refused && conclusions.length > 0)
    return markup`<h1>${conclusions.length === 1 ? conclusions[0]!.sentence.split(' (')[0]! : counted(analysis)}</h1>
      ${conclusions.map((one) => conclusionCard(analysis, one))}${reasons.length > 0 && list(reasons)}`;
  return markup`<h1>${headingOf(analysis)}</h1>
    ${
      reasons.length + advice.length > 0 &&
      markup`<div class="card ${bad ? 'bad' : 'open'}">
        ${
          reasons.length > 0 &&
          markup`<p><b>Why</b></p>
            ${list(reasons)}`
        }${
          advice.length > 0 &&
          markup`<p><b>What to do</b></p>
            ${list(advice)}`
        }
      </div> `
    }${judged && conclusions.length === 0 && analysis.mode === 'compare' && markup`<p>This analysis has no conclusions; the tracker's verdicts stand in the tables below.</p>`}`;
};

const number = (value: number | null | undefined, digits: number): string =>
  value === null || value === undefined ? '–' : value.toFixed(digits);

/** The conclusions of one size as a table. */
export const conclusionTable = (analysis: Analysis, turns: number): Markup => {
  const rows = (analysis.conclusions as Judged[]).filter((one) => one.turns === turns);
  if (rows.length === 0) return markup``;
  const short = shortNames(analysis.sessions.map((one) => one.run));
  const head = [
    'metric',
    'candidate',
    'conclusion',
    'ratio',
    '95 % from',
    'to',
    'p',
    'margin',
    'rounds',
    'detectable from',
    'tracker',
  ];
  return htmlTable(
    `Conclusions at ${turns} turns`,
    [
      head,
      ...rows.map((one) => [
        one.session === undefined ? one.metric : `${one.metric}, ${short.get(one.session) ?? one.session}`,
        one.candidate,
        WORDS[one.conclusion].text,
        one.difference
          ? `${one.difference.estimate.toPrecision(3)} ${one.difference.unit ?? ''}`
          : number(one.ratio, 3),
        number(one.difference ? one.difference.low : one.low, 3),
        number(one.difference ? one.difference.high : one.high, 3),
        one.p === null ? '–' : one.p < 0.0001 ? '< 0.0001' : one.p.toPrecision(2),
        `${Number((100 * one.margin).toPrecision(3))} %`,
        String(one.rounds),
        one.detectable === undefined ? '–' : `${(100 * one.detectable).toFixed(1)} %`,
        verdictOf(analysis, one) ?? '–',
      ]),
    ],
    [3, 4, 5, 6, 7, 8, 9],
  );
};
