/** The page of a history. Pure. */
import { stepText } from '../../shared/history-words.ts';
import type { SampleMetric } from '../../shared/sample-values.ts';
import { atItsSize } from '../../shared/sizes.ts';
import { trackerValues } from '../../shared/tracker-values.ts';
import type { Page } from './document.ts';
import { figure } from './figures.ts';
import { markup, htmlTable, type Markup } from './markup.ts';
import type { HistorySeries } from './payload.ts';

/** A page holds so many of the newest runs of each rule and size. */
export const MOST_RUNS = 3000;

/** Every metric that any run has, the tracker's own first. */
const metricsIn = (series: readonly HistorySeries[]): SampleMetric[] => {
  const keys = new Set(series.flatMap((one) => one.points.flatMap((point) => Object.keys(point.values))));
  const known = trackerValues().filter(({ name }) => keys.delete(name));
  const others = [...keys].map((key) => ({ name: key, label: key, unit: '' }));
  return [...known, ...others].map(({ name, label, unit }) => ({
    key: name,
    label,
    unit,
    basis: 'wall',
    better: 'lower',
  }));
};

/** Shown open; the others are a click away. */
const FIRST = new Set(['warm', 'cpuWarm', 'time']);

const changesTable = ({ changes }: HistorySeries, labels: ReadonlyMap<string, string>): Markup =>
  markup`${
    changes.length > 0 &&
    htmlTable(
      'Change points',
      [
        ['metric', 'ratio', 'last commit before', 'first commit after', 'first run after', 'p'],
        ...changes.map((one) => [
          labels.get(one.metric) ?? one.metric,
          stepText(one.step),
          one.before || '–',
          one.after || '–',
          one.run,
          one.p.toPrecision(2),
        ]),
      ],
      [1, 5],
    )
  }`;

const nameOf = (series: HistorySeries): string => `${series.rule}${atItsSize(series.turns, series)}`;

const section = (series: HistorySeries, metrics: readonly SampleMetric[], at: number): Markup => {
  const { turns, nodeType, points } = series;
  const named = nameOf(series);
  const here = metrics.filter(({ key }) => points.some((one) => one.values[key] !== undefined));
  const labels = new Map(metrics.map((one) => [one.key, one.label]));
  const first = here.filter(({ key }) => FIRST.has(key));
  const open = new Set(first.length > 0 ? first : here.slice(0, 1));
  const drawn = (one: SampleMetric): Markup =>
    figure({
      plot: 'history',
      caption: `${one.label}: ${named}`,
      turns,
      series: at,
      metric: one.key,
    });
  return markup`<section aria-labelledby="h${at}">
    <h2 id="h${at}">${named}</h2>
    ${nodeType !== '' && markup`<p class="what">${nodeType}</p>`}<p>${points.length} ${points.length === 1 ? 'run' : 'runs'}, ${points[0]!.at.slice(0, 10)} to
      ${points.at(-1)!.at.slice(0, 10)}.
    </p>
    ${changesTable(series, labels)}${here.filter((one) => open.has(one)).map(drawn)}
    ${here
      .filter((one) => !open.has(one))
      .map(
        (one) =>
          markup`<details class="metric">
            <summary>${one.label}${one.unit !== '' && `, ${one.unit}`}</summary>
            ${drawn(one)}
          </details> `,
      )}
  </section> `;
};

export const historyPage = (
  track: string,
  {
    series,
    left,
    others,
    broken,
    changes,
  }: { series: HistorySeries[]; left: number; others: number; broken: number; changes: boolean },
): Omit<Page, 'made'> => {
  const metrics = metricsIn(series);
  const runs = series.reduce((sum, one) => sum + one.points.length, 0);
  const found = series.reduce((sum, one) => sum + one.changes.length, 0);
  const told = changes
    ? `${found} change ${found === 1 ? 'point' : 'points'}`
    : "change points were not asked for: 'k8sbench tracker changes --json' finds them, and '--changes FILE' brings them here";
  const body = markup`<header><p class="what">k8sbench history</p></header>
    <main id="main">
      <h1>History of ${track}</h1>
      <p class="what">
        ${runs} ${runs === 1 ? 'run' : 'runs'} in ${series.length} series; ${told}. Ratios are
        candidate over reference; a run counts once, by its newest
        line.${left > 0 && ` ${left} older ${left === 1 ? 'run is' : 'runs are'} left out: a page holds ${MOST_RUNS} of each series.`}${
          others > 0 && ` ${others} ${others === 1 ? 'run' : 'runs'} of other purposes than main left out.`
        }${broken > 0 && ` ${broken === 1 ? '1 line is no line' : `${broken} lines are no lines`} of a history.`}
      </p>
      <nav aria-label="Sections">
        <ul>
          ${series.map((one, at) => markup`<li><a href="#h${at}">${nameOf(one)}</a></li>`)}
        </ul>
      </nav>
      <div class="controls">
        <button type="button" data-open aria-pressed="false">Open all metrics</button>
      </div>
      ${series.map((one, at) => section(one, metrics, at))}
    </main>`;
  return {
    title: `History of ${track}`,
    body,
    payload: { format: 'report-history/1', track, metrics, series },
    dataName: 'history.json',
  };
};
