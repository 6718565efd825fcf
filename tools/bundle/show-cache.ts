/** `bundle cache`: what was built and downloaded before and is kept, how much it is, and with --max less of it. */
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed } from '../../shared/failure.ts';
import { jsonText } from '../../shared/read.ts';
import { table } from '../../shared/terminal.ts';
import { cacheOf } from './cache.ts';
import { bytesIn, entriesOf, type Entry, limitOf, prune, sizeOf } from './cache-limit.ts';
import type { BundleCall } from './flags.ts';

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const rowOf = ({ kind, name, size_bytes, used_at }: Entry): string[] => [
  used_at.slice(0, 16).replace('T', ' '),
  megabytes(size_bytes),
  kind === 'archive' ? `archive ${name.slice(0, 12)}` : name || 'of an earlier version',
];

const textOf = (cache: string, entries: readonly Entry[], limit: number): string =>
  (entries.length === 0
    ? ''
    : table([['used (UTC)', 'size', 'what'], ...entries.map(rowOf)], [1]).concat('\n')) +
  `${megabytes(sizeOf(entries))} in '${cache}'; a build leaves ${megabytes(limit)} at most\n`;

/** How much was removed. */
export const removedText = (removed: readonly Entry[]): string =>
  `${removed.length} of its entries, ${megabytes(sizeOf(removed))}, those used longest ago`;

export const showCache = {
  about: 'what is kept of earlier builds, and how much it is; with --max, less of it',
  words: 0,
  flags: ['max', 'json'] as const,
  async run({ flags, world, talk }: BundleCall): Promise<Exit> {
    const cache = cacheOf(world.env);
    const limit = limitOf(world.env);
    if (flags.max !== undefined) {
      const removed = await prune(cache, bytesIn(flags.max, "flag '--max'"));
      if (!removed) throw failed(`a build is at work with '${cache}'; try again when it has ended`);
      if (removed.length > 0) talk.info(`'${cache}': removed ${removedText(removed)}`);
    }
    const entries = await entriesOf(cache);
    await talk.flushed();
    await world.stdout.write(
      flags.json
        ? jsonText({
            format: 'bundle-cache/1',
            directory: cache,
            limit_bytes: limit,
            size_bytes: sizeOf(entries),
            entries,
          })
        : textOf(cache, entries, limit),
    );
    return EXIT.done;
  },
};
