/** The ranking as a table for people. */
import type { Nodes } from '../../schemas/nodes.ts';
import { table } from '../../shared/terminal.ts';

/** Rows shown; all of them are in nodes.json. */
const SHOWN = 20;

const number = (value: number | null): string =>
  value === null ? '?' : String(Math.round(value * 1000) / 1000);
const gibibytes = (value: number | null): string =>
  value === null ? '?' : `${(value / 2 ** 30).toFixed(1)}Gi`;

/** Chosen nodes carry a star; those that can't be used say why. Chosen ones are always shown. */
export const rankingTable = ({ basis, nodes, chosen }: Nodes): string => {
  const shown = nodes.filter((one, at) => at < SHOWN || chosen.includes(one.name));
  const candidates = basis === 'candidates';
  const rows = shown.map((one) => [
    chosen.includes(one.name) ? '*' : '',
    one.name,
    ...(candidates
      ? [number(one.requestedCpu ?? null)]
      : [number(one.freeCpu), gibibytes(one.freeMemory), number(one.allocatableCpu)]),
    String(one.pods),
    one.skip ?? '',
  ]);
  const head = [
    '',
    'node',
    ...(candidates ? ['requested CPUs'] : ['free CPUs', 'free memory', 'CPUs']),
    'pods',
    '',
  ];
  const left = nodes.length - shown.length;
  return (
    table([head, ...rows], candidates ? [2, 3] : [2, 3, 4, 5]) + (left > 0 ? `and ${left} more nodes\n` : '')
  );
};
