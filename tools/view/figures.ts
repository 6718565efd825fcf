/** Places for figures, which the page's script draws. Pure. */
import { markup, type Markup } from './markup.ts';

export interface Place {
  plot: 'ratios' | 'distribution' | 'rounds' | 'timeline' | 'history' | 'rates' | 'differences' | 'tries';
  caption: string;
  turns: number;
  metric?: string;
  /** Place of its series in the history. */
  series?: number;
  /** Doubts that this figure shows the ground of. */
  doubts?: Markup;
}

export const figure = ({ plot, caption, turns, metric = '', series = 0, doubts }: Place): Markup =>
  // As JSON, so that the script finds the very names again, whatever they are.
  markup`<figure data-plot="${plot}" data-about="${JSON.stringify({ turns, metric, series })}">
<figcaption>${caption}</figcaption>
${doubts}<div class="canvas"></div>
<details><summary>Table: ${caption}</summary></details>
</figure>
`;
