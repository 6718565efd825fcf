/** Which lines of a history count: of a run that was reported again the newest that can be read. */
import type { HistoryLine } from '../../schemas/tracker.ts';
import { type Entry, type History, type LineReader, parsedLine } from './history.ts';

/** Oldest first; a run that was reported again is shown once per rule and size, by its newest line, as it counts. */
export const countedEntries = (entries: readonly Entry[]): Entry[] => {
  const newest = new Map<string, Entry>();
  for (const one of entries) {
    const key = `${one.rule}\n${one.turns}\n${one.run}`;
    const before = newest.get(key);
    if (!before || one.at >= before.at) newest.set(key, one);
  }
  return [...newest.values()].toSorted((a, b) => a.at - b.at || a.number - b.number);
};

/**
 * The last entries that count and can be read, of how many, and what is broken. A newest line that is broken after its head
 * leaves its run to the one before it. Nothing is kept of the lines, which `take` may: a history may be larger than the memory.
 */
export const readable = (
  history: History,
  last: number,
  reader: LineReader,
  take: (entry: Entry, line: HistoryLine) => void = () => undefined,
): { counted: number; shown: Entry[]; broken: string[] } => {
  const problems = new Map<Entry, string | undefined>();
  const broken = (): string[] => [...problems.values()].filter((one) => one !== undefined);
  for (let entries: readonly Entry[] = history.entries; ;) {
    const counted = countedEntries(entries);
    const shown = counted.slice(Math.max(0, counted.length - last));
    for (const one of shown) {
      if (problems.has(one)) continue;
      const line = parsedLine(reader.bytes(history, one), history, one);
      problems.set(one, typeof line === 'string' ? line : undefined);
      if (typeof line !== 'string') take(one, line);
    }
    if (shown.every((one) => problems.get(one) === undefined))
      return { counted: counted.length, shown, broken: broken() };
    entries = entries.filter((one) => problems.get(one) === undefined);
  }
};
