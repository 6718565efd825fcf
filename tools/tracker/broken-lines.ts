import type { Talk } from '../../shared/talk.ts';

/** Broken lines are named and left out: they are a record of nothing, and the file is not this tool's to mend. */
export const sayBroken = (broken: readonly string[], talk: Talk): void => {
  for (const one of broken.slice(0, 5)) talk.warn(`${one}; the line is left out`);
  if (broken.length > 5) talk.warn(`${broken.length - 5} more broken lines are left out`);
};
