/** The page of a run of trials. Its words and numbers are the score's. Pure. */
import type { Difference, ScoredAttempt, TrialsScore, TrialState } from '../../schemas/trials-score.ts';
import {
  armRows,
  attemptsOf,
  differenceRows,
  effortRows,
  reasonRows,
  scoreWords,
  SIGNS,
  triesRows,
} from '../../shared/trials-tables.ts';
import type { Page } from './document.ts';
import { figure } from './figures.ts';
import { htmlTable, markup, type Markup } from './markup.ts';

const LOOKS: Readonly<Record<TrialState, string>> = { solved: 'good', failed: 'bad', 'no verdict': 'open' };

/** A difference is claimed when the interval over tasks leaves nothing out and the exact test agrees. */
const wordOf = ({ rate, byTask }: Difference): { text: string; look: string } => {
  const isClear = byTask.holm <= 0.05 && rate.low !== null && rate.high !== null;
  if (isClear && rate.low! > 0) return { text: '▲ more', look: 'good' };
  if (isClear && rate.high! < 0) return { text: '▼ fewer', look: 'bad' };
  return { text: "? can't tell", look: 'open' };
};

const differenceCard = (one: Difference): Markup => {
  const { text, look } = wordOf(one);
  return markup`<div class="card ${look}"><p class="says"><span class="word ${look}">${text}</span>${one.sentence}</p></div>
`;
};

/** One try: a sign that needs no colour, and more of it to those who point at it. */
const attemptMark = ({ attempt, state, reward, why, agentWall_s }: ScoredAttempt): Markup => {
  const told = [
    `attempt ${attempt}: ${state}`,
    ...(reward === null ? [] : [`reward ${reward}`]),
    ...(agentWall_s === null ? [] : [`${agentWall_s.toFixed(1)} s`]),
    ...(why === undefined ? [] : [why]),
  ].join(', ');
  return markup`<span class="try ${LOOKS[state]}" title="${told}">${SIGNS[state]}</span>`;
};

const grid = ({ arms, tasks }: TrialsScore): Markup =>
  htmlTable('Every trial: + solved, - failed, ? no verdict', [
    ['task', ...arms.map((one) => one.name)],
    ...tasks.map((one) => [
      one.task,
      ...arms.map(({ name }) => markup`${attemptsOf(one.arms, name).map(attemptMark)}`),
    ]),
  ]);

const doubtList = ({ doubts }: TrialsScore): Markup =>
  doubts.length === 0
    ? markup`<p>No doubts.</p>`
    : markup`<h2 id="doubts">Doubts</h2>
        <ul class="doubts">
          ${doubts.map((one) => markup`<li><b>${one.name}</b>: ${one.sentence}</li>`)}
        </ul>`;

const folded = (title: string, content: Markup): Markup =>
  markup`<details class="metric">
    <summary>${title}</summary>
    ${content}
  </details> `;

const numbers = (rows: readonly (readonly string[])[], names = 1): number[] =>
  Array.from({ length: (rows[0]?.length ?? 0) - names }, (_, at) => at + names);

const place = (plot: 'rates' | 'differences' | 'tries', caption: string): Markup =>
  figure({ plot, caption, turns: 0 });

export const trialsPage = (score: TrialsScore, run: string): Omit<Page, 'made'> => {
  const [arms, effort, tries, differences, reasons] = [
    armRows(score),
    effortRows(score),
    triesRows(score),
    differenceRows(score),
    reasonRows(score),
  ];
  const models = [...new Set(score.arms.map((one) => one.model))];
  const body = markup`<header><p class="what">k8sbench trials</p></header>
    <main id="main">
      <h1>${scoreWords(score)}</h1>
      <p class="what">
        Model ${models.join(', ')}. Run ${score.run ?? run}. Rates are over trials with a verdict; the others are
        counted beside them.
      </p>
      ${score.differences.map(differenceCard)} ${doubtList(score)}
      <nav aria-label="Sections">
        <ul>
          <li><a href="#rates">Solve rates</a></li>
          ${score.differences.length > 0 && markup`<li><a href="#differences">Differences</a></li>`}
          <li><a href="#tasks">Tasks</a></li>
        </ul>
      </nav>
      <div class="controls">
        <button type="button" data-open aria-pressed="false">Open all metrics</button>
      </div>
      <section aria-labelledby="rates">
        <h2 id="rates">Solve rates</h2>
        ${place('rates', 'Solve rate of each arm')}${htmlTable('Solved, of how many with a verdict', arms, numbers(arms))}
        <p class="note">
          Wilson's interval is about these tasks and takes tries for independent; that of the tasks is about tasks
          like these, drawn again with all their tries (${score.settings.draws} times, seed
          ${score.settings.seed}).
        </p>
        ${reasons.length > 0 && htmlTable('Without verdict', [['arm', 'trials', 'why'], ...reasons], [1])}
        ${
          tries[0]!.length > 2 &&
          folded(
            'Several tries',
            markup`${place('tries', 'Chance of k tries')}${htmlTable('Any of k tries (pass@k), all of k tries (pass^k)', tries, numbers(tries))}`,
          )
        }
        ${folded('Tokens, cost and times', htmlTable('What the arms took', effort, numbers(effort)))}
      </section>
      ${
        score.differences.length > 0 &&
        markup`<section aria-labelledby="differences">
          <h2 id="differences">Differences</h2>
          ${place('differences', 'Difference of solve rates, by task')}${htmlTable('Arms against each other', differences, numbers(differences, 2))}
        </section>`
      }
      <section aria-labelledby="tasks">
        <h2 id="tasks">Tasks</h2>
        ${grid(score)}
      </section>
    </main>`;
  return {
    title: scoreWords(score),
    body,
    payload: { format: 'report-trials/1', score },
    dataName: `${score.run ?? run}.json`,
  };
};
