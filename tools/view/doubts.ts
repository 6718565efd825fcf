/** Doubts, all together and in the places that show their ground. Pure. */
import type { Analysis, Doubt } from '../../schemas/analysis.ts';
import { type GroupedDoubt, groupedDoubts } from '../../shared/grouped-doubts.ts';
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

const item = ({ doubt, sessions }: GroupedDoubt): Markup => {
  const side =
    doubt.side === undefined ? 'threshold' : { below: 'fires at most', above: 'fires above' }[doubt.side];
  return markup`<li>
    <b>Doubt: ${doubt.name}</b>${sessions.length > 0 && ` (${sessions.join(', ')})`} – ${doubt.sentence}
    <span class="beside">[${Number(doubt.value.toPrecision(3))}; ${side} ${doubt.threshold}]</span>
  </li> `;
};

export const doubtList = (analysis: Analysis, doubts: readonly Doubt[] = analysis.doubts): Markup =>
  markup`${
    doubts.length > 0 &&
    markup`<ul class="doubts">
      ${groupedDoubts(analysis, doubts).map(item)}
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
export const doubtsAt = (analysis: Analysis, plot: Place['plot'], at: At): Markup =>
  doubtList(
    analysis,
    analysis.doubts.filter((one) => PLACES[one.name] === plot && isAbout(one, at)),
  );
