/** `tracker show`: the history as a table, newest last. */
import { resolve } from 'node:path';
import type { HistoryLine } from '../../schemas/tracker.ts';
import { EXIT } from '../../shared/exit.ts';
import { painter } from '../../shared/terminal.ts';
import { sayBroken } from './broken-lines.ts';
import { readable } from './counted-entries.ts';
import { LineReader, parsedLine, readHistory } from './history.ts';
import { historyTable } from './history-table.ts';
import type { TrackerVerb } from './call.ts';

/** How many lines a table shows when nobody says. */
const LAST = 20;

/** `1 line`, `3 older lines`. */
export const linesText = (count: number, kind = ''): string =>
  `${count} ${kind}line${count === 1 ? '' : 's'}`;

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
