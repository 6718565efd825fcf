/** The page of one run. Its words and numbers are the analysis's. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { comparisonRows, noiseRows, nodeRows } from '../../shared/analysis-tables.ts';
import { gateWords, limitText, noiseLine, where } from '../../shared/analysis-words.ts';
import { conclusionLine, conclusionTable, headline } from './conclusions.ts';
import type { Page } from './document.ts';
import { doubtList, doubtsAt } from './doubts.ts';
import { figure } from './figures.ts';
import { machineSection } from './machine.ts';
import { markup, htmlTable, type Markup } from './markup.ts';
import { atSize, sizeList, sizeName } from './names.ts';
import type { RunPayload } from './payload.ts';

/** What a run's page shows. */
export interface RunMaterial {
  payload: RunPayload;
  calibration?: Calibration;
  /** ENV.txt: a block per session. */
  env?: string;
}

/** Metrics that conclusions are about; without any, warm time or whatever is first. */
const primaryOf = ({ analysis, metrics }: RunPayload): Set<string> => {
  const judged = new Set(analysis.conclusions.map((one) => one.metric));
  if (judged.size > 0) return judged;
  const fallback = metrics.find((one) => one.key === 'warm') ?? metrics[0];
  return new Set(fallback ? [fallback.key] : []);
};

/** What was measured, where and when, in a line or two. */
const about = (analysis: Analysis): Markup => {
  const { run, profile, rule, rounds, measured_at, commit, mode } = analysis;
  const question =
    mode === 'calibrate'
      ? 'calibration of the reference alone'
      : [...new Set(analysis.comparisons.map((one) => `${one.candidate} against ${one.reference}`))].join(
          ', ',
        );
  return markup`<p class="what">
    ${profile}${rule !== profile && ` (rule ${rule})`}: ${question}; ${
      analysis.origin === 'imported' ? `${rounds} samples each` : `${sizeList(analysis)}, ${rounds} rounds`
    }.
    ${where(analysis)}. ${measured_at.slice(0, 16).replace('T', ' ')}
    UTC${commit !== '' && `, commit ${commit.slice(0, 12)}`}. Run ${run}.
  </p> `;
};

const metricFigures = (
  { analysis }: RunPayload,
  metric: { key: string; label: string; unit: string },
  turns: number,
): Markup => {
  const at = { turns, metric: metric.key };
  const named = `${metric.label}${atSize(analysis, turns)}`;
  const kinds = [
    ['distribution', `Every sample: ${named}`],
    ...(analysis.mode === 'compare' ? ([['rounds', `Round by round: ${named}`]] as const) : []),
    ...(analysis.origin === 'imported'
      ? []
      : ([['timeline', `In the order measured: ${named}, and what the machine did`]] as const)),
  ] as const;
  return markup`${kinds.map(([plot, caption]) =>
    figure({
      plot,
      caption,
      ...at,
      doubts: doubtsAt(analysis, plot, at),
    }),
  )}`;
};

const metricSections = (payload: RunPayload, turns: number): Markup => {
  const primary = primaryOf(payload);
  const here = payload.metrics.filter(({ key }) =>
    payload.series.some((one) => one.turns === turns && one.values[key] !== undefined),
  );
  const { analysis } = payload;
  const said = (key: string) =>
    analysis.conclusions.filter(
      (one) =>
        one.turns === turns && one.metric === key && (analysis.judged || analysis.origin === 'imported'),
    );
  const shownOf = (key: string) =>
    (analysis.shown ?? []).filter((one) => one.turns === turns && one.metric === key);
  return markup`${here
    .filter(({ key }) => primary.has(key))
    .map(
      (one) =>
        markup`<h3>${one.label}, ${one.unit}</h3>
          ${said(one.key).map(conclusionLine)}${metricFigures(payload, one, turns)}`,
    )}
  ${here
    .filter(({ key }) => !primary.has(key))
    .map(
      (one) =>
        markup`<details class="metric">
          <summary>${one.label}, ${one.unit}</summary>
          ${shownOf(one.key).map(({ sentence }) => markup`<p>${sentence}</p>`)}${metricFigures(payload, one, turns)}
        </details> `,
    )}`;
};

const verdictTables = (analysis: Analysis, turns: number): Markup =>
  markup`${analysis.comparisons
    .filter((one) => one.turns === turns)
    .map((one) => {
      const { noise, maxCv, gate } = analysis;
      const cvs = noiseLine(noise[String(turns)], maxCv);
      const net = one.floor === undefined ? '' : `, net of ${one.floor}`;
      return markup`${htmlTable(
        `The tracker's values: ${one.candidate} against ${one.reference}, ${one.samples} samples each${net}`,
        comparisonRows(one, analysis),
        [2, 3, 4, 5, 6, 7, 8],
      )}${cvs !== '' && markup`<p class="note">CV of ${one.reference}: ${cvs} (limit ${limitText(maxCv)}, ${gateWords(gate)})</p>`}`;
    })}`;

const calibrationTables = ({ payload, calibration }: RunMaterial, turns: number): Markup => {
  const size = calibration?.sizes[String(turns)];
  if (!calibration || !size) return markup``;
  return markup`${htmlTable(`Noise of the reference${atSize(payload.analysis, turns)}`, noiseRows(String(turns), size, calibration.maxCv, payload.analysis), [0, 2, 3, 4, 5])}
    ${htmlTable(`Nodes${atSize(payload.analysis, turns)}`, nodeRows(size, calibration.maxCv), [1, 3, 4, 5])}
    <p class="note">limit ${limitText(calibration.maxCv)}, ${gateWords(calibration.gate)}</p>`;
};

const hasIntervals = ({ conclusions, shown = [] }: Analysis, turns: number): boolean =>
  [...conclusions, ...shown].some((one) => one.turns === turns && one.ratio !== null);

const sizeSection = (material: RunMaterial, turns: number): Markup => {
  const { payload } = material;
  const { analysis } = payload;
  return markup`<section aria-labelledby="turns-${turns}">
    <h2 id="turns-${turns}">${sizeName(analysis, turns)}</h2>
    ${conclusionTable(analysis, turns)}${
      hasIntervals(analysis, turns) &&
      figure({
        plot: 'ratios',
        caption: `All metrics${atSize(analysis, turns)} against the reference`,
        turns,
      })
    }${verdictTables(analysis, turns)}${calibrationTables(material, turns)}${metricSections(payload, turns)}
  </section> `;
};

const attemptsOf = ({ earlierAttempts: before, origin }: Analysis): Markup => {
  if (origin === 'imported') return markup``;
  if (!before || before.total === 0) return markup`<p>No earlier attempt at this question is recorded.</p>`;
  return markup`<p>
    Attempt ${before.total + 1} at this question: of ${before.total} before it ${before.refused}
    ${before.refused === 1 ? 'was' : 'were'} refused for noise and ${before.void} void.
  </p>`;
};

export const runPage = (material: RunMaterial): Omit<Page, 'made'> => {
  const { analysis } = material.payload;
  const { turns } = analysis;
  const contents = [
    ...turns.map((size) => [`turns-${size}`, sizeName(analysis, size)] as const),
    ['machine', 'Machine and sessions'] as const,
  ];
  const body = markup`<header><p class="what">k8sbench report</p></header>
    <main id="main">
      ${headline(analysis)} ${about(analysis)} ${doubtList(analysis)}${attemptsOf(analysis)}
      <nav aria-label="Sections">
        <ul>
          ${contents.map(([id, name]) => markup`<li><a href="#${id}">${name}</a></li>`)}
        </ul>
      </nav>
      <div class="controls">
        <button type="button" data-open aria-pressed="false">Open all metrics</button>
      </div>
      ${turns.map((size) => sizeSection(material, size))} ${machineSection(analysis, material.env)}
    </main>`;
  const [first] = analysis.judged ? analysis.conclusions : [];
  return {
    title: `${first ? first.sentence.split(' (')[0] : analysis.judged ? 'judged' : 'not judged'} – ${analysis.run}`,
    body,
    payload: material.payload,
    dataName: `${analysis.run}.json`,
  };
};
