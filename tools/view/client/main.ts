/** The page's script: draws each figure when it comes near the window, makes tables when they are opened. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { shortNumber } from '../../../shared/analysis-words.ts';
import type { Payload } from '../payload.ts';
import { distribution } from './distribution.ts';
import { type About, element, type Kind, type Table } from './figure.ts';
import { history } from './history.ts';
import { ratios } from './ratios.ts';
import { rounds } from './rounds.ts';
import { timeline } from './timeline.ts';
import { differences, rates, tries } from './trials.ts';

const KINDS = {
  ratios,
  distribution,
  rounds,
  timeline,
  history,
  rates,
  differences,
  tries,
} as unknown as Readonly<Record<string, Kind<Payload>>>;

const source = document.getElementById('data')!.textContent!;
const payload = JSON.parse(source) as Payload;

const kindOf = (figure: HTMLElement): Kind<Payload> => KINDS[figure.dataset['plot']!]!;

const aboutOf = (figure: HTMLElement): About => JSON.parse(figure.dataset['about']!) as About;

/** Width that each figure was drawn at. */
const drawn = new WeakMap<HTMLElement, number>();

const draw = (figure: HTMLElement): void => {
  const canvas = figure.querySelector<HTMLElement>('.canvas')!;
  const width = Math.floor(canvas.clientWidth) || 640;
  if (drawn.get(figure) === width) return;
  drawn.set(figure, width);
  canvas.classList.add('drawn');
  try {
    canvas.replaceChildren(...kindOf(figure).draw(payload, aboutOf(figure), width));
  } catch (error) {
    // One figure that fails must not take the others with it.
    console.error(error);
    canvas.replaceChildren(element('p', `this figure can't be drawn: ${String(error)}`, 'note'));
  }
};

const cell = (value: string | number | null): string =>
  value === null
    ? '–'
    : typeof value === 'number' && !Number.isInteger(value)
      ? shortNumber(value)
      : String(value);

const tableOf = ({ head, rows }: Table, label: string): HTMLElement => {
  const box = element('div', '', 'scroll');
  box.tabIndex = 0;
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', label);
  const table = document.createElement('table');
  const line = table.createTHead().insertRow();
  for (const one of head) {
    const cellOf = element('th', one);
    cellOf.setAttribute('scope', 'col');
    line.append(cellOf);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const inserted = body.insertRow();
    for (const one of row) {
      const made = inserted.insertCell();
      made.textContent = cell(one);
      if (typeof one === 'number') made.className = 'number';
    }
  }
  box.append(table);
  return box;
};

const figures = [...document.querySelectorAll<HTMLElement>('figure[data-plot]')];

const near = new IntersectionObserver(
  (entries) => {
    for (const one of entries) if (one.isIntersecting) draw(one.target as HTMLElement);
  },
  { rootMargin: '400px' },
);
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const figure = target.closest<HTMLElement>('figure')!;
    if (drawn.has(figure)) draw(figure);
  }
});

for (const figure of figures) {
  near.observe(figure);
  resized.observe(figure.querySelector('.canvas')!);
  const details = figure.querySelector('details')!;
  details.addEventListener('toggle', () => {
    if (details.open && details.querySelector('table') === null)
      details.append(
        tableOf(
          kindOf(figure).table(payload, aboutOf(figure)),
          details.querySelector('summary')!.textContent!,
        ),
      );
  });
}

// What is printed is everything that stands open, also what was never scrolled to.
addEventListener('beforeprint', () => {
  for (const figure of figures) if (figure.checkVisibility()) draw(figure);
});

const download = document.querySelector<HTMLAnchorElement>('a[download]');
if (download) {
  download.href = URL.createObjectURL(new Blob([`${source}\n`], { type: 'application/json' }));
  download.hidden = false;
}
for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-open]'))
  button.addEventListener('click', () => {
    const open = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(open));
    for (const one of document.querySelectorAll<HTMLDetailsElement>('details.metric')) one.open = open;
  });
document.documentElement.dataset['ready'] = 'yes';
