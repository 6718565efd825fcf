/** What `tracker` takes. */
import type { Call } from '../../shared/command-line.ts';
import { choice, fileName, list, many, readFileName, text, whole, yes } from '../../shared/flags.ts';
import type { Verb } from '../../shared/verbs.ts';

export const flags = {
  run: text("append, changes, bisect: run directory; '-' reads its path from stdin", 'DIR'),
  track: fileName('history file (default: track.jsonl beside the run; without one out/track.jsonl)'),
  baseline: many(list('append: baselines for the deltas, matched by rule', 'FILE,…', readFileName)),
  history: many(fileName('append: histories for the rolling medians (default: the track file)')),
  purpose: text(
    'append: what the run is for: main, pr, bisect, … (default: as planned); changes: runs of it (default: main)',
    'WORD',
  ),
  rule: text('show, changes, bisect: lines of this rule', 'RULE'),
  turns: whole('show, changes, bisect: lines of this size', 'N', { min: 1 }),
  metric: many(
    text('changes, bisect: this value, by its name in the lines (default: the primary ones)', 'NAME'),
  ),
  last: whole('show: the newest lines (default: 20; with --json all)', 'N', { min: 1 }),
  within: whole('changes: only change points within the newest N runs', 'N', { min: 1 }),
  'fail-on': choice('changes: change: ends with 4 when the history changed', ['change']),
  json: yes('show: print the lines as they stand in the file; changes, bisect: print JSON lines'),
};

export type TrackerCall = Call<typeof flags>;
export type TrackerVerb = Verb<typeof flags>;
