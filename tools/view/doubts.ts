/** Doubts, all together and in the places that show their ground. Pure. */
import type { Doubt } from '../../schemas/analysis.ts';
import { markup, type Markup } from './markup.ts';
import type { Place } from './figures.ts';

/** The figure that shows what a doubt is about. */
const PLACES: Readonly<Record<string, Place['plot']>> = {
  bimodal: 'distribution',
  short: 'distribution',
  'short-times': 'distribution',
  drift: 'rounds',
  wandering: 'rounds',
  warmup: 'rounds',
  control: 'rounds',
  unpaired: 'rounds',
  order: 'timeline',
  predecessor: 'timeline',
  clock: 'timeline',
  throttled: 'timeline',
  steal: 'timeline',
  stalled: 'timeline',
  contended: 'timeline',
};

const item = (doubt: Doubt): Markup => {
  const { session } = doubt;
  const side = { below: 'fires at most', above: 'fires above' }[String(doubt['side'])] ?? 'threshold';
  return markup`<li>
    <b>Doubt: ${doubt.name}</b>${session !== undefined && ` (${session})`} – ${doubt.sentence}
    <span class="beside">[${Number(doubt.value.toPrecision(3))}; ${side} ${doubt.threshold}]</span>
  </li> `;
};

export const doubtList = (doubts: readonly Doubt[]): Markup =>
  markup`${
    doubts.length > 0 &&
    markup`<ul class="doubts">
      ${doubts.map(item)}
    </ul>`
  }`;

/** A place on the page. */
interface At {
  turns: number;
  metric: string;
}

/** Whether a doubt is about this size and metric: it is, unless it names others. */
const isAbout = (doubt: Doubt, { turns, metric }: At): boolean =>
  (doubt.turns ?? turns) === turns && (doubt.metric ?? metric) === metric;

/** Doubts that a figure of this kind shows the ground of. */
export const doubtsAt = (doubts: readonly Doubt[], plot: Place['plot'], at: At): Markup =>
  doubtList(doubts.filter((one) => PLACES[one.name] === plot && isAbout(one, at)));
