#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure } from '../../shared/failure.ts';
import { choice, decimal, fileName, list, text, yes } from '../../shared/flags.ts';
import { answer, printsJson } from './answer.ts';
import { readFailOn } from './fail-on.ts';
import { directoryOf } from './request.ts';

export const tool = defineTool({
  name: 'analyze',
  about: "judges a session's log: samples, noise, exact values, verdicts, conclusions",
  flags: {
    run: text("run directory; '-' reads its path from stdin", 'DIR'),
    log: text("a log without any directory; '-' reads it from stdin", 'FILE'),
    calibration: fileName('the calibration that the comparison is held to, or its run directory'),
    'max-cv': decimal('largest CV of a gated metric (default: as planned, else 0.05)', 'CV', { above: 0 }),
    gate: choice('metrics that are held to the limit (default: as planned, else auto)', [
      'auto',
      'wall',
      'cpu',
    ]),
    margin: decimal('differences up to this share are the same (default: as planned, else 3%)', 'SHARE', {
      above: 0,
    }),
    'fail-on': list(
      "conclusions that end with 4: slower, not-faster, cant-tell (not the tracker's verdicts)",
      'WORD,…',
      readFailOn,
    ),
    'allow-incomplete': yes('read a log that is not whole, for forensics; it is never judged'),
    force: yes('do it again although it is done'),
    out: choice("'-' prints analysis.json instead of the run's path", ['-']),
    json: yes('print analysis.json and no tables'),
  },
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notJudged, EXIT.judgedBad, EXIT.invalid, EXIT.interrupted],
  async run({ flags, world, talk }) {
    const directory = await directoryOf(flags, world);
    try {
      return await answer(flags, directory, world, talk);
    } catch (error) {
      if (!(error instanceof Failure) || error.exit !== EXIT.invalid) throw error;
      for (const one of error.problems) talk.error(one);
      // Without a log to analyze it is invalid all the same: the next step tells that by its status, too.
      if (directory && !printsJson(flags)) await world.stdout.write(`${directory.shown}\n`);
      return error.exit;
    }
  },
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
