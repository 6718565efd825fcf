#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { verbOf, verbsText } from '../../shared/verbs.ts';
import { flags } from './call.ts';
import { VERBS } from './verbs.ts';

export const tool = defineTool({
  name: 'tracker',
  about: 'the history of comparisons: one line per size and candidate, append-only',
  flags,
  words: [{ name: 'VERB', about: 'what to do', required: true, options: Object.keys(VERBS) }],
  more: verbsText(VERBS),
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notJudged, EXIT.judgedBad, EXIT.invalid],
  run: async (call) => verbOf('tracker', VERBS, call).run(call),
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
