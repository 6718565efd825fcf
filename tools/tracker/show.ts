/** `tracker show`: the history as a table, newest last. */
import { resolve } from 'node:path';
import type { HistoryLine } from '../../schemas/tracker.ts';
import { EXIT } from '../../shared/exit.ts';
import { painter } from '../../shared/terminal.ts';
import { sayBroken } from './broken-lines.ts';
import { type Entry, LineReader, parsedLine, readHistory } from './history.ts';
import { historyTable } from './history-table.ts';
import type { Verb } from './verbs.ts';

/** How many lines a table shows when nobody says. */
const LAST = 20;

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

export const show: Verb = {
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
    const counted = countedEntries(history.entries);
    const last = flags.last ?? (flags.json ? counted.length : LAST);
    const shown = counted.slice(Math.max(0, counted.length - last));
    const reader = new LineReader();
    const broken = [...history.broken];
    const lines: HistoryLine[] = [];
    for (const entry of shown) {
      const bytes = reader.bytes(history, entry);
      const line = parsedLine(bytes, history, entry);
      if (typeof line === 'string') broken.push(line);
      else if (flags.json) await world.stdout.write(`${bytes.toString('utf8')}\n`);
      else lines.push(line);
    }
    reader.close();
    sayBroken(broken, talk);
    if (flags.json) return EXIT.done;
    const colours = world.stdout.isTerminal && !world.env['NO_COLOR'];
    if (lines.length > 0) await world.stdout.write(historyTable(lines, painter(colours)));
    else talk.info(`'${track}' has no such line`);
    const left = counted.length - shown.length;
    const again = history.entries.length - counted.length;
    if (left > 0) talk.info(`${left} older lines; --last ${counted.length} shows all`);
    if (again > 0) talk.info(`${again} older lines of runs that were reported again are left out`);
    return EXIT.done;
  },
};
