/** What `/proc/<pid>/stat` says of a process (proc(5)). */

export interface ProcessStat {
  /** May hold any character. */
  name: string;
  /** `R`, `S`, `D`, …; {@link isDead} tells which of them are over. */
  state: string;
  parent: number;
  group: number;
  session: number;
  flags: number;
  /** Start time, clock ticks since boot: with the id it names one process, as ids come back. */
  startTicks: number;
}

/** Undefined when the text is none of that file. */
export const processStat = (text: string): ProcessStat | undefined => {
  const close = text.lastIndexOf(')');
  // What follows the last parenthesis has no blanks within.
  const fields = text.slice(close + 2).split(' ');
  if (close === -1 || fields.length < 20) return undefined;
  return {
    name: text.slice(text.indexOf('(') + 1, close),
    state: fields[0]!,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    flags: Number(fields[6]),
    startTicks: Number(fields[19]),
  };
};

/** Ended, though nobody has waited for it. */
export const isDead = ({ state }: ProcessStat): boolean => state === 'Z' || state === 'X';
