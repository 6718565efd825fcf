/** `tracker show`: the history as a table, newest last. */
import { resolve } from 'node:path';
import type { HistoryLine } from '../../schemas/tracker.ts';
import { EXIT } from '../../shared/exit.ts';
import { painter } from '../../shared/terminal.ts';
import { sayBroken } from './broken-lines.ts';
import { type Entry, type History, LineReader, parsedLine, readHistory } from './history.ts';
import { historyTable } from './history-table.ts';
import type { TrackerVerb } from './call.ts';

/** How many lines a table shows when nobody says. */
const LAST = 20;

/** `1 line`, `3 older lines`. */
export const linesText = (count: number, kind = ''): string =>
  `${count} ${kind}line${count === 1 ? '' : 's'}`;

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
 * leaves its run to the one before it. Nothing is kept of the lines: a history may be larger than the memory.
 */
const readable = (
  history: History,
  last: number,
  reader: LineReader,
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
    }
    if (shown.every((one) => problems.get(one) === undefined))
      return { counted: counted.length, shown, broken: broken() };
    entries = entries.filter((one) => problems.get(one) === undefined);
  }
};

export const show: TrackerVerb = {
  about: 'shows the history, newest last',
  flags: ['track', 'rule', 'turns', 'last', 'json'],
  async run({ flags, world, talk }) {
    const track = flags.track ?? 'out/track.jsonl';
    const history = readHistory(
      resolve(world.cwd, track),
      track,
      (one) =>
        (flags.rule === undefined || one.rule === flags.rule) &&
        (flags.turns === undefined || one.turns === flags.turns),
    );
    const reader = new LineReader();
    const last = flags.last ?? (flags.json ? Number.POSITIVE_INFINITY : LAST);
    const { counted, shown, broken } = readable(history, last, reader);
    const lines: HistoryLine[] = [];
    for (const entry of shown) {
      const bytes = reader.bytes(history, entry);
      if (flags.json) await world.stdout.write(`${bytes.toString('utf8')}\n`);
      else lines.push(parsedLine(bytes, history, entry) as HistoryLine);
    }
    reader.close();
    sayBroken([...history.broken, ...broken], talk);
    if (flags.json) return EXIT.done;
    const colours = world.stdout.isTerminal && !world.env['NO_COLOR'];
    if (lines.length > 0) await world.stdout.write(historyTable(lines, painter(colours)));
    else talk.info(`'${track}' has no such line`);
    const left = counted - shown.length;
    const again = history.entries.length - broken.length - counted;
    if (left > 0) talk.info(`${linesText(left, 'older ')}; --last ${counted} shows all`);
    if (again > 0) talk.info(`${linesText(again, 'older ')} of runs that were reported again left out`);
    return EXIT.done;
  },
};
