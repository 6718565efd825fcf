/** Findings as a person reads them. Pure. */
import { plainText, type Colour } from '../../../shared/terminal.ts';
import type { Finding, Status } from './finding.ts';

const COLOURS: Readonly<Record<Status, Colour>> = { ok: 'green', warn: 'yellow', fail: 'red' };

/** What they come to, in one sentence. */
export const verdictOf = (findings: readonly Finding[]): string => {
  const count = (status: Status): number => findings.filter((one) => one.status === status).length;
  const [warnings, failures] = [count('warn'), count('fail')];
  if (failures > 0)
    return `no local session can run here: ${failures} of ${findings.length} findings prevent it`;
  return warnings === 0
    ? `a local session can run here, and nothing weakens it`
    : `a local session can run here; ${warnings} of ${findings.length} findings weaken what it measures`;
};

/** One block per area; below each line that isn't ok, what to do. */
export const findingsText = (
  findings: readonly Finding[],
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
    `${verdictOf(findings)}\n`
  );
};
