/** Figures of trials: rates of arms, differences between them, chances of several tries. */
import * as Plot from '@observablehq/plot';
import type { Estimate, TrialsScore } from '../../../schemas/trials-score.ts';
import type { TrialsPayload } from '../payload.ts';
import { asImage, element, type Kind, legend } from './figure.ts';
import { armLook, frame, shownName, TIP } from './looks.ts';

/** An interval in a row of its own; in %. */
interface Bar {
  row: string;
  basis: string;
  value: number;
  low: number | null;
  high: number | null;
}

const times100 = (value: number | null): number | null => (value === null ? null : 100 * value);

const barOf = (row: string, basis: string, { value, low, high }: Estimate): Bar[] =>
  value === null ? [] : [{ row, basis, value: 100 * value, low: times100(low), high: times100(high) }];

const rateBars = ({ arms }: TrialsScore): Bar[] =>
  arms.flatMap((one) => [
    ...barOf(`${shownName(one.name, 24)} · trials`, 'Wilson', one.rate),
    ...barOf(`${shownName(one.name, 24)} · by task`, 'tasks drawn again', one.overTasks),
  ]);

const differenceBars = ({ differences }: TrialsScore): Bar[] =>
  differences.flatMap((one) =>
    barOf(`${shownName(one.first, 20)} − ${shownName(one.second, 20)}`, 'tasks drawn again', one.rate),
  );

const digits = (value: number): string => value.toFixed(1).replace(/^-0\.0$/, '0.0');

const text = ({ value, low, high }: Bar): string =>
  low === null || high === null
    ? `${digits(value)} (no interval)`
    : `${digits(value)} (${digits(low)} – ${digits(high)})`;

const bars = (
  all: readonly Bar[],
  width: number,
  label: string,
  domain: [number, number],
  zero: boolean,
): Element => {
  const names = all.map((one) => one.row);
  const plot = Plot.plot({
    ...frame(width, 30 * names.length + 62, label),
    marginLeft: Math.min(width / 3, 20 + 6.6 * Math.max(...names.map((one) => one.length))),
    marginRight: width > 520 ? 150 : 16,
    marginBottom: 40,
    x: { label, domain, grid: true, labelArrow: 'none' },
    y: { domain: names, label: null, type: 'band', padding: 0.3 },
    marks: [
      Plot.axisY({ tickSize: 0, fontSize: 12 }),
      ...(zero ? [Plot.ruleX([0], { stroke: 'var(--text)' })] : []),
      Plot.ruleY(
        all.filter((one) => one.low !== null && one.high !== null),
        { y: 'row', x1: 'low', x2: 'high', stroke: 'var(--candidate)', strokeWidth: 3 },
      ),
      Plot.dot(all, { y: 'row', x: 'value', r: 5, fill: 'var(--candidate)' }),
      ...(width > 520
        ? [
            Plot.text(all, {
              y: 'row',
              text,
              frameAnchor: 'right',
              textAnchor: 'start',
              dx: 8,
              fontVariant: 'tabular-nums',
            }),
          ]
        : []),
      Plot.tip(
        all,
        Plot.pointerY({
          ...TIP,
          y: 'row',
          x: 'value',
          title: (one: Bar) => `${one.row}\n${text(one)}\n${one.basis}`,
        }),
      ),
    ],
  });
  return asImage(plot, `${label}; the table below has the numbers`);
};

const tableOf = (all: readonly Bar[], unit: string) => ({
  head: ['', unit, 'low', 'high', 'interval'],
  rows: all.map((one) => [one.row, one.value, one.low, one.high, one.low === null ? 'none' : one.basis]),
});

const nothing = (): Element[] => [element('p', 'no trial has a verdict', 'note')];

export const rates: Kind<TrialsPayload> = {
  draw({ score }, _, width) {
    const all = rateBars(score);
    return all.length === 0 ? nothing() : [bars(all, width, 'solved, %', [0, 100], false)];
  },
  table: ({ score }) => tableOf(rateBars(score), 'solved, %'),
};

export const differences: Kind<TrialsPayload> = {
  draw({ score }, _, width) {
    const all = differenceBars(score);
    if (all.length === 0) return nothing();
    const reach = Math.max(
      5,
      ...all.flatMap((one) => [one.value, one.low ?? 0, one.high ?? 0].map(Math.abs)),
    );
    const end = Math.min(100, reach * 1.05);
    return [
      bars(all, width, 'percentage points, first minus second', [-end, end], true),
      element('p', 'Bars are 95 % intervals over tasks. Right of 0 the first arm solves more.', 'note'),
    ];
  },
  table: ({ score }) => tableOf(differenceBars(score), 'points'),
};

interface Chance {
  arm: string;
  place: number;
  k: number;
  kind: 'any' | 'all';
  value: number;
}

const chances = ({ arms }: TrialsScore): Chance[] =>
  arms.flatMap(({ name, passAny, passAll }, place) =>
    (
      [
        ['any', passAny],
        ['all', passAll],
      ] as const
    ).flatMap(([kind, tries]) =>
      tries.flatMap(({ k, value }) =>
        value === null ? [] : [{ arm: shownName(name, 24), place, k, kind, value: 100 * value }],
      ),
    ),
  );

export const tries: Kind<TrialsPayload> = {
  draw({ score }, _, width) {
    const all = chances(score);
    if (all.length === 0) return nothing();
    const ks = [...new Set(all.map((chance) => chance.k))];
    const every = Math.ceil(ks.length / 12);
    const ticks = ks.filter((_k, at) => at % every === 0);
    const label = 'tasks, %';
    const plot = Plot.plot({
      ...frame(width, 260, label),
      marginBottom: 38,
      x: { label: 'tries', ticks, tickFormat: 'd', labelArrow: 'none' },
      y: { label, domain: [0, 100], grid: true, labelArrow: 'none' },
      marks: [
        Plot.line(all, {
          x: 'k',
          y: 'value',
          z: (one: Chance) => `${one.place} ${one.kind}`,
          stroke: (one: Chance) => armLook(one.place).colour,
          strokeOpacity: 0.6,
        }),
        Plot.dot(all, {
          x: 'k',
          y: 'value',
          symbol: (one: Chance) => armLook(one.place).symbol as Plot.SymbolType,
          stroke: (one: Chance) => armLook(one.place).colour,
          fill: (one: Chance) => (one.kind === 'any' ? armLook(one.place).colour : 'var(--page)'),
        }),
        Plot.tip(
          all,
          Plot.pointer({
            ...TIP,
            x: 'k',
            y: 'value',
            title: (one: Chance) => `${one.arm}\n${one.kind} of ${one.k}: ${one.value.toFixed(1)} %`,
          }),
        ),
      ],
    });
    return [
      legend(score.arms.map(({ name }, place) => ({ name, look: armLook(place) }))),
      asImage(plot, 'Chance that any, and that all of k tries solve a task; the table below has the numbers'),
      element('p', 'Filled: any of k tries (pass@k). Hollow: all of k tries (pass^k).', 'note'),
    ];
  },
  table: ({ score }) => ({
    head: ['arm', 'k', 'tasks', 'any of k, %', 'low', 'high', 'all of k, %'],
    rows: score.arms.flatMap(({ name, passAny, passAll }) =>
      passAny.map((one, at) => [
        shownName(name, 24),
        one.k,
        one.tasks,
        times100(one.value),
        times100(one.low),
        times100(one.high),
        times100(passAll[at]!.value),
      ]),
    ),
  }),
};
