/** Change points as `tracker changes --json` prints them: JSON lines, one for each. */
import { change } from '../../schemas/changes.ts';
import { check, parseJson } from '../../shared/read.ts';
import type { HistoryChange } from './payload.ts';

/** A change point, and the history that it was found in. */
export type FoundChange = HistoryChange & { rule: string; turns: number; nodeType: string };

export const readChanges = (written: string, place: string): FoundChange[] =>
  written.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    const name = `${place}:${at + 1}`;
    const found = check(change, { value: parseJson(line, name) }, name);
    const { rule, turns, metric, nodeType, before, after, step, p } = found;
    return [
      { rule, turns, nodeType, metric, run: after.run, before: before.commit, after: after.commit, step, p },
    ];
  });
