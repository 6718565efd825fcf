/** How far a bundle is on its way, in words, now and then. Pure: time comes in. */
import { timeInWords } from '../../../shared/time-words.ts';

const mib = (bytes: number): string => (bytes / (1 << 20)).toFixed(0);

/**
 * Counts the archive's bytes, `total` in all, as they are sent from `from` on (ms); gives a line once `every` ms have passed
 * since the last one: what was sent, how fast, and how long the rest will take at that rate.
 */
export const sendingProgress = (
  total: number,
  from: number,
  every: number,
): ((bytes: number, now: number) => string | undefined) => {
  let sent = 0;
  let saidAt = from;
  return (bytes, now) => {
    sent += bytes;
    if (now - saidAt < every) return undefined;
    saidAt = now;
    const rate = (sent / (now - from)) * 1000;
    return `sending the bundle: ${mib(sent)} of ${mib(total)} MiB, ${mib(rate)} MiB/s, ${timeInWords((total - sent) / rate)} left`;
  };
};
