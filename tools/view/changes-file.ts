/** Change points as `tracker changes --json` prints them: JSON lines, one for each. */
import * as v from 'valibot';
import { finite, positive, text } from '../../schemas/primitives.ts';
import { check, parseJson } from '../../shared/read.ts';
import type { HistoryChange } from './payload.ts';

const change = v.looseObject({
  rule: text,
  turns: positive,
  metric: text,
  /** The last run before it and the first after it. */
  before: v.looseObject({ run: v.optional(v.string()), commit: v.optional(v.string()) }),
  after: v.looseObject({ run: text, commit: v.optional(v.string()) }),
  /** The ratio after over the ratio before. */
  step: v.optional(finite),
  p: v.optional(finite),
});

export type FoundChange = HistoryChange & { rule: string; turns: number };

export const readChanges = (written: string, place: string): FoundChange[] =>
  written.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    const name = `${place}:${at + 1}`;
    const { rule, turns, metric, before, after, step, p } = check(
      change,
      { value: parseJson(line, name) },
      name,
    );
    return [
      {
        rule,
        turns,
        metric,
        run: after.run,
        before: before.commit ?? '',
        after: after.commit ?? '',
        ...(step === undefined ? {} : { step }),
        ...(p === undefined ? {} : { p }),
      },
    ];
  });
