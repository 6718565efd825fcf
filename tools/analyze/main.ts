#!/usr/bin/env bun
import { readAttempts } from '../../shared/attempts.ts';
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { choice, decimal, fileName, list, text, yes } from '../../shared/flags.ts';
import { jsonText, readText } from '../../shared/read.ts';
import { painter } from '../../shared/terminal.ts';
import { analyze } from './analyze.ts';
import { clockWarning } from './endings.ts';
import { readFailOn } from './fail-on.ts';
import { PAGE, touchOutputs } from './output-files.ts';
import { calibrationIn, previousAnalysis } from './outputs.ts';
import { requestOf } from './request.ts';
import { reportText } from './report.ts';
import { stripsFor } from './strips-for.ts';

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
    const request = await requestOf(flags, world);
    const { directory } = request.run;
    const previous = flags.force ? undefined : await previousAnalysis(request);
    if (previous && directory) {
      talk.info(`'${directory.shown}' is analyzed already, from the same inputs; --force does it again`);
      touchOutputs(directory);
    }
    const page = directory?.has(PAGE);
    const { analysis, calibration } =
      previous && directory
        ? { analysis: previous, calibration: calibrationIn(directory) }
        : await analyze(request, world.interrupted);
    if (page && directory && !directory.has(PAGE))
      talk.info(
        `'${directory.shown}/${PAGE}' showed the analysis before: removed; 'k8sbench view' makes it anew`,
      );
    const clock = directory && clockWarning(readAttempts(directory), world.now());
    if (clock) talk.warn(clock);
    const colours = world.stderr.isTerminal && !world.env['NO_COLOR'];
    const strips = flags.json ? undefined : stripsFor(directory, analysis, world.stderr);
    if (!flags.json) talk.print(reportText(analysis, calibration, painter(colours), strips));
    const printsJson = flags.json || flags.out === '-' || !directory;
    // As it stands in the file: reading it by its schema would put its keys in another order.
    const written = previous && directory ? readText(directory.file('analysis.json')) : jsonText(analysis);
    await world.stdout.write(printsJson ? written : `${directory.shown}\n`);
    return analysis.exit;
  },
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
