#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { flags, verbOf, VERBS } from './verbs.ts';

export const tool = defineTool({
  name: 'trials',
  about:
    'agents on tasks: locks tasks, prints the Jobs of a run, collects their results, tells who solves how much',
  flags,
  words: [{ name: 'VERB', about: 'what to do (default: print)', options: Object.keys(VERBS) }],
  more: [
    'VERBS',
    '',
    ...Object.entries(VERBS).map(([name, verb]) => `  ${name.padEnd(9)}${verb.about}`),
  ].join('\n'),
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  run: async (call) => verbOf(call).run(call),
});

export { tasksLock } from './tasks-lock.ts';
export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
