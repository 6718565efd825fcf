/** Lines count by their time: a clock that was set back would put new ones behind old ones. Pure. */
import { failed } from '../../shared/failure.ts';
import type { History } from './history.ts';

/** Clocks of machines that share a history differ by less, ms. */
const SKEW_MS = 60_000;

const instant = (ms: number): string => new Date(ms).toISOString();

/**
 * What to say when histories have lines from after `now` (ms since the epoch); undefined: nothing. A line of the run itself
 * from then is an error: of a run the newest line counts, and the new one would not be it.
 */
export const clockWarning = (histories: readonly History[], run: string, now: number): string | undefined => {
  for (const { shown, entries } of histories) {
    const own = entries.find((one) => one.run === run && one.at > now);
    if (own)
      throw failed(
        `'${shown}' has a line of this run from ${instant(own.at)}, and this machine's clock says ${instant(now)}: a new line would not count; set the clock`,
      );
  }
  for (const { shown, entries } of histories) {
    const latest = entries.reduce((most, one) => Math.max(most, one.at), 0);
    if (latest > now + SKEW_MS)
      return `'${shown}' has lines up to ${instant(latest)}, and this machine's clock says ${instant(now)}: lines count by their time; check the clock`;
  }
  return undefined;
};
