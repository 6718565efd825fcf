/** The rolling median of the reference (spec §7): this run's value and the last four of the history. */
import { median } from '../../shared/statistics.ts';
import { type Entry, type History, LineReader, parsedLine } from './history.ts';

/** How many values of the history count beside this run's own. */
const OF_HISTORY = 4;

/** The lines of one rule and size, newest first; each run once, by its newest line that can be read. */
export class Rolling {
  readonly #pending: { history: History; entry: Entry }[];
  readonly #values = new Map<string, number[]>();
  readonly #runs = new Set<string>();
  readonly #reader = new LineReader();
  readonly broken: string[] = [];

  constructor(histories: readonly History[], rule: string, turns: number, ownRun: string) {
    // Oldest first, so that the newest is taken from the end; of equal times the later line is the newer one.
    this.#pending = histories
      .flatMap((history) =>
        history.entries
          .filter((one) => one.rule === rule && one.turns === turns && one.run !== ownRun)
          .map((entry) => ({ history, entry })),
      )
      .toSorted((a, b) => a.entry.at - b.entry.at);
  }

  /** Reads as far back as the keys need: four values each, or to the beginning. */
  prepare(keys: readonly string[]): void {
    for (const key of keys) if (!this.#values.has(key)) this.#values.set(key, []);
    let needed = keys.filter((key) => this.#values.get(key)!.length < OF_HISTORY);
    while (needed.length > 0) {
      const next = this.#pending.pop();
      if (!next) break;
      if (this.#runs.has(next.entry.run)) continue;
      if (this.#take(next.history, next.entry, needed)) this.#runs.add(next.entry.run);
      needed = needed.filter((key) => this.#values.get(key)!.length < OF_HISTORY);
    }
    this.#reader.close();
  }

  #take(history: History, entry: Entry, keys: readonly string[]): boolean {
    const bytes = this.#reader.bytes(history, entry);
    // A metric that is new has no value in years of history; its name is sooner looked for than parsed for.
    if (!keys.some((key) => bytes.includes(`"${key}"`))) return true;
    const line = parsedLine(bytes, history, entry);
    if (typeof line === 'string') {
      this.broken.push(line);
      return false;
    }
    for (const key of keys) {
      const value = line.values[key];
      if (typeof value === 'number' && Number.isFinite(value)) this.#values.get(key)!.push(value);
    }
    return true;
  }

  /** The median over this run's value and the last four of the history that have one, and over how many. */
  median(key: string, own: number): { value: number; n: number } {
    const all = [own, ...(this.#values.get(key) ?? []).slice(0, OF_HISTORY)];
    return { value: median(all), n: all.length };
  }
}
