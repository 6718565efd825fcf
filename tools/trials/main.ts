#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { verbOf, verbsText } from '../../shared/verbs.ts';
import { flags } from './flags.ts';
import { VERBS } from './verbs.ts';

export const tool = defineTool({
  name: 'trials',
  about:
    'agents on tasks: locks tasks, prints the Jobs of a run, collects their results, tells who solves how much',
  flags,
  words: [{ name: 'VERB', about: 'what to do (default: print)', options: Object.keys(VERBS) }],
  more: verbsText(VERBS),
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  run: async (call) => verbOf('trials', VERBS, call, 'print').run(call),
});

export { tasksLock } from './tasks-lock.ts';
export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
