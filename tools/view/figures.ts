/** Places for figures, which the page's script draws. Pure. */
import { markup, type Markup } from './markup.ts';

export interface Place {
  plot: 'ratios' | 'distribution' | 'rounds' | 'timeline' | 'history';
  caption: string;
  turns: number;
  metric?: string;
  rule?: string;
  /** Doubts that this figure shows the ground of. */
  doubts?: Markup;
}

export const figure = ({ plot, caption, turns, metric, rule, doubts }: Place): Markup =>
  markup`<figure
    data-plot="${plot}"
    data-turns="${turns}"
    ${metric !== undefined && markup` data-metric="${metric}"`}${rule !== undefined && markup` data-rule="${rule}"`}
  >
    <figcaption>${caption}</figcaption>
    ${doubts}
    <div class="canvas"></div>
    <details><summary>Table: ${caption}</summary></details>
  </figure> `;
