/** The rolling median of the reference (spec §7): this run's value and the last four of the history. */
import type { HistoryLine } from '../../schemas/tracker.ts';
import { median } from '../../shared/statistics.ts';
import { type Entry, type History, LineReader, parsedLine } from './history.ts';

/** How many values of the history count beside this run's own. */
const OF_HISTORY = 4;

/** Who a line's reference was, as far as it tells. */
export interface Identity {
  commit?: unknown;
  sha256?: unknown;
}

const object = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const referenceOf = (line: HistoryLine): Identity => {
  const more = object((line as { more?: unknown }).more);
  return object(object(more['identities'])[String(more['reference'])]);
};

/** Two that are known to be different programs; what is not known does not differ. */
export const isOther = (one: Identity, other: Identity): boolean => {
  for (const key of ['sha256', 'commit'] as const)
    if (typeof one[key] === 'string' && typeof other[key] === 'string') return one[key] !== other[key];
  return false;
};

/** The lines of one rule and size, newest first; each run once, by its newest line that can be read. */
export class Rolling {
  readonly #pending: { history: History; entry: Entry }[];
  readonly #values = new Map<string, number[]>();
  readonly #runs = new Set<string>();
  readonly #reader = new LineReader();
  readonly broken: string[] = [];
  /** The references of the window's runs, newest first. */
  readonly references: Identity[] = [];

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
    if (this.references.length < OF_HISTORY) this.references.push(referenceOf(line));
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
