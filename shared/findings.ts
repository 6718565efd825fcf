/** What a look at a machine or a cluster says of one thing, and findings as a person reads them. Pure. */
import { plainText, type Colour } from './terminal.ts';

/** `fail`: nothing runs; `warn`: something runs, but less well, or not everything is known. */
export type Status = 'ok' | 'warn' | 'fail';

export interface Finding<Area extends string = string> {
  area: Area;
  name: string;
  status: Status;
  /** What was found. */
  found: string;
  /** What it means. */
  means: string;
  /** What to do about it; absent when nothing needs doing. */
  remedy?: string;
  /** Numbers behind it, base units in the names. */
  values?: Readonly<Record<string, number>>;
}

/** Makes findings of one area. */
export const areaOf = <Area extends string>(area: Area) => ({
  ok: (name: string, found: string, means: string, values?: Finding['values']): Finding<Area> => ({
    area,
    name,
    status: 'ok',
    found,
    means,
    ...(values ? { values } : {}),
  }),
  warn: (
    name: string,
    found: string,
    means: string,
    remedy: string,
    values?: Finding['values'],
  ): Finding<Area> => ({
    area,
    name,
    status: 'warn',
    found,
    means,
    remedy,
    ...(values ? { values } : {}),
  }),
  fail: (name: string, found: string, means: string, remedy: string): Finding<Area> => ({
    area,
    name,
    status: 'fail',
    found,
    means,
    remedy,
  }),
});

export const countOf = (findings: readonly Finding[], status: Status): number =>
  findings.filter((one) => one.status === status).length;

const COLOURS: Readonly<Record<Status, Colour>> = { ok: 'green', warn: 'yellow', fail: 'red' };

/** One block per area; below each line that isn't ok, what to do; at the end `verdict`, what they come to. */
export const findingsText = (
  findings: readonly Finding[],
  verdict: string,
  paint: (colour: Colour, text: string) => string,
): string => {
  const widest = Math.max(...findings.map((one) => one.name.length));
  const blocks = Map.groupBy(findings, (one) => one.area);
  const line = ({ name, status, found, means, remedy }: Finding): string =>
    `  ${paint(COLOURS[status], status.padEnd(4))}  ${name.padEnd(widest)}  ${plainText(found)}\n` +
    `${' '.repeat(widest + 10)}${paint('grey', plainText(means))}\n` +
    (remedy === undefined ? '' : `${' '.repeat(widest + 10)}→ ${plainText(remedy)}\n`);
  return (
    [...blocks].map(([name, members]) => `${paint('bold', name)}\n${members.map(line).join('')}\n`).join('') +
    `${verdict}\n`
  );
};
