/** Sizes in words: turns of a workload, or the processes that make a sample of plain commands. Pure. */

/** What sizes count where it is not turns. */
export interface Counted {
  counted?: 'processes' | undefined;
}

/** `50 turns`, `5 processes`. */
export const sizeText = (size: number, { counted }: Counted): string =>
  counted === 'processes'
    ? `${size} process${size === 1 ? '' : 'es'}`
    : `${size} turn${size === 1 ? '' : 's'}`;

/** `at 50 turns`, `at 5 processes a sample`. */
export const atSize = (size: number, about: Counted): string =>
  `at ${sizeText(size, about)}${about.counted === 'processes' ? ' a sample' : ''}`;

/** ` at 50 turns` after a name; nothing in an imported run, whose only size nobody named. */
export const atItsSize = (size: number, about: Counted & { origin?: 'imported' | undefined }): string =>
  about.origin === 'imported' ? '' : ` ${atSize(size, about)}`;

/** The head of a column of sizes: what they count, or `size` where they count different things. */
export const sizeHead = (all: readonly Counted[]): string => {
  const [counted = 'turns', ...others] = new Set(all.map((one) => one.counted ?? 'turns'));
  return others.length === 0 ? counted : 'size';
};

/** What sizes count for targets like these; nothing to say where it is turns. */
export const countedBy = (targets: readonly { command?: unknown }[]): { counted?: 'processes' } =>
  targets.some((one) => one.command !== undefined) ? { counted: 'processes' } : {};
