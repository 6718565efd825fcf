/** What is said of a run, first: conclusions with the tracker's verdicts beside them, or why there are none. Pure. */
import type { Analysis, Conclusion } from '../../schemas/analysis.ts';
import { EXIT } from '../../shared/exit.ts';
import { evidenceRows } from '../../shared/evidence-rows.ts';
import { markup, htmlTable, type Markup } from './markup.ts';
import { atSize } from './names.ts';

/** A conclusion's word, how it looks, and a sign that needs no colour. */
const WORDS: Readonly<Record<Conclusion['conclusion'], { text: string; plain: string; look: string }>> = {
  faster: { text: '▲ faster', plain: 'faster', look: 'good' },
  slower: { text: '▼ slower', plain: 'slower', look: 'bad' },
  same: { text: '= same', plain: 'the same', look: 'even' },
  'cant-tell': { text: "? can't tell", plain: "can't tell", look: 'open' },
};

/** What stands beside a conclusion: the tracker's verdict, why it differs, the same program twice. */
const besideOf = ({ verdict, disagreement, control }: Conclusion): string[] => [
  ...(verdict === undefined ? [] : [`the tracker's verdict: ${verdict}`]),
  ...(control ? [control.sentence] : []),
  ...(disagreement === undefined ? [] : [disagreement]),
];

const sign = ({ conclusion }: Conclusion): Markup =>
  markup`<span class="word ${WORDS[conclusion].look}">${WORDS[conclusion].text}</span>`;

/** One conclusion: the sentence a person would quote, and what stands beside it. */
const conclusionCard = (one: Conclusion): Markup =>
  markup`<div class="card ${WORDS[one.conclusion].look}"><p class="says">${sign(one)}${one.sentence}</p>${besideOf(
    one,
  ).map((text) => markup`<p class="beside">${text}</p>`)}</div>
`;

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
      ${conclusions.map(conclusionCard)}${reasons.length > 0 && list(reasons)}`;
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

/** The conclusions of one size as a table. */
export const conclusionTable = (analysis: Analysis, turns: number): Markup => {
  const rows = evidenceRows(analysis, { turns, shown: false, word: (one) => WORDS[one].text });
  if (rows.length === 0) return markup``;
  const words = new Set(['metric', 'candidate', 'conclusion']);
  const numbers = rows[0]!.flatMap((name, at) => (words.has(name) ? [] : [at]));
  return htmlTable(`Conclusions${atSize(analysis, turns)}`, rows, numbers);
};
