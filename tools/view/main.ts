#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { text, yes } from '../../shared/flags.ts';
import { show } from './show.ts';

export const tool = defineTool({
  name: 'view',
  about: 'makes one page to look at of a run, or of a history',
  flags: {
    run: text("run directory; '-' reads its path from stdin", 'DIR'),
    track: text('history file', 'FILE'),
    changes: text("history: change points, as 'k8sbench tracker changes --json' prints them", 'FILE'),
    out: text(
      "where the page goes; '-' prints it (default: report.html in the run, or FILE.html beside the history)",
      'FILE',
    ),
    force: yes('make it again although it is made'),
  },
  exits: [EXIT.done, EXIT.failed, EXIT.usage],
  more: `PRINTS

  the run directory's path, for the next step; of a history the page's path; with '--out -' the page`,
  run: show,
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
