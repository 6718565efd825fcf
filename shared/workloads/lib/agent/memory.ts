/** A tree's memory at a moment of rest, and the fields that tell it. Nothing that was not measured is in them. */
import type { ProcessTree, Shares } from './tree.ts';

export interface AtRest {
  /** Largest sum of the processes' VmHWM so far, and the sum of their VmRSS now, MiB. */
  peak: number;
  now: number;
  /** Undefined where the kernel tells nothing of it. */
  shares: Shares | undefined;
}

export const atRest = (tree: ProcessTree): AtRest => {
  const { peak, rss } = tree.memory();
  return { peak, now: rss, shares: tree.shares() };
};

const shareFields = (name: string, shares: Shares | undefined): Record<string, number> =>
  shares ? { [`${name}Pss`]: shares.pss, [`${name}Anonymous`]: shares.anonymous } : {};

const field = (name: string, value: number): Record<string, number> => (value > 0 ? { [name]: value } : {});

/** `<name>Rss` is the largest sum, `<name>RestRss` that at rest, of which `<name>Pss` and `<name>Anonymous` tell more. */
export const memoryFields = (name: string, { peak, now, shares }: AtRest): Record<string, number> => ({
  ...field(`${name}Rss`, peak),
  ...field(`${name}RestRss`, now),
  ...shareFields(name, shares),
});

/** The moment alone: `<name>Rss` is the sum at rest. */
export const momentFields = (name: string, { now, shares }: AtRest): Record<string, number> => ({
  ...field(`${name}Rss`, now),
  ...shareFields(name, shares),
});
