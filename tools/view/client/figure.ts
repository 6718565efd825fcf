/** What a kind of figure is, and the pieces that several kinds share. */
import type { SampleMetric } from '../../../shared/sample-values.ts';
import type { Payload, RunPayload, Series, TrialsPayload } from '../payload.ts';
import { shortNames } from '../../../shared/short-names.ts';
import { shownName, type Target } from './looks.ts';

/** Which part of the data a figure is about. */
export interface About {
  turns: number;
  metric: string;
  /** Place of its series in the history. */
  series: number;
}

export interface Table {
  head: string[];
  rows: (string | number | null)[][];
}

export interface Kind<P extends Payload> {
  /** The elements of the figure, `width` px wide at most. */
  draw(payload: P, about: About, width: number): Element[];
  /** The same data as a table. */
  table(payload: P, about: About): Table;
}

export const element = (name: string, text: string, className = ''): HTMLElement => {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== '') made.className = className;
  return made;
};

const SHAPES: Readonly<Record<string, string>> = {
  circle: 'M6,1.5a4.5,4.5 0 1,0 .01,0Z',
  square: 'M2,2H10V10H2Z',
  diamond: 'M6,0L11,6L6,12L1,6Z',
  triangle: 'M6,1L11.5,10.5H.5Z',
  star: 'M6,0L7.4,4.2H11.8L8.3,6.8L9.6,11L6,8.4L2.4,11L3.7,6.8L.2,4.2H4.6Z',
  wye: 'M4.6,6.8L1.2,4.8L2.6,2.4L6,4.4L9.4,2.4L10.8,4.8L7.4,6.8V10.8H4.6Z',
  cross: 'M4,0H8V4H12V8H8V12H4V8H0V4H4Z',
};

/** Names with their colours and symbols. */
export const legend = (targets: readonly (Omit<Target, 'role'> & Partial<Target>)[]): HTMLElement => {
  const list = element('ul', '', 'legend');
  for (const { name, role, look } of targets) {
    const item = element('li', '');
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    for (const [key, value] of [
      ['viewBox', '0 0 12 12'],
      ['width', '12'],
      ['height', '12'],
      ['aria-hidden', 'true'],
    ] as const)
      svg.setAttribute(key, value);
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', SHAPES[String(look.symbol)] ?? SHAPES['circle']!);
    path.setAttribute('fill', look.colour);
    svg.append(path);
    item.append(svg, ` ${shownName(name)}${role === undefined || name === role ? '' : ` (${role})`}`);
    list.append(item);
  }
  return list;
};

/** An image for those who look, its label for those who don't. */
export const asImage = (plot: Element, label: string): Element => {
  // An image's parts are nobody's to read: the library names them after its marks.
  for (const part of plot.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
  plot.setAttribute('role', 'img');
  plot.setAttribute('aria-label', label);
  return plot;
};

export const metricOf = ({ metrics }: Exclude<Payload, TrialsPayload>, about: About): SampleMetric =>
  metrics.find((one) => one.key === about.metric)!;

/** The series of a size that have the metric. */
export const seriesAbout = ({ series }: RunPayload, { turns, metric }: About): Series[] =>
  series.filter((one) => one.turns === turns && one.values[metric] !== undefined);

export const sessionsOf = (series: readonly Series[]): string[] => [
  ...new Set(series.map((one) => one.session)),
];

/** What stands above a session's part of a figure, where there are several. */
export const sessionHeading = (sessions: readonly string[], session: string): Element[] =>
  sessions.length > 1 ? [element('p', `session ${shownShort(sessions).get(session)}`, 'part')] : [];

/** Short names as a figure may show them. */
export const shownShort = (names: readonly string[]): Map<string, string> =>
  new Map([...shortNames(names)].map(([name, short]) => [name, shownName(short, 24)]));
