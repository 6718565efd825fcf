#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { text } from '../../shared/flags.ts';
import { openRun } from '../../shared/rundir.ts';
import { isOfTrials, readScore } from '../../shared/trials-results.ts';
import { FORMATS, refusal, trialsText } from './formats.ts';
import { materialOf } from './material.ts';

export const tool = defineTool({
  name: 'export',
  about: "prints a run in another program's format",
  flags: { run: text("run directory; '-' reads its path from stdin", 'DIR') },
  words: [{ name: 'FORMAT', about: 'what to print', required: true, options: Object.keys(FORMATS) }],
  more: [
    'FORMATS',
    '',
    ...Object.entries(FORMATS).map(([name, { about }]) => `  ${name.padEnd(24)}${about}`),
    '',
    'EXAMPLES',
    '',
    '  k8sbench export benchfmt --run out/RUN | benchstat -col target -',
    '  k8sbench export junit --run out/RUN > k8sbench.xml',
    '',
    "Of a run of trials 'junit' and 'markdown', once 'trials score' is done.",
  ].join('\n'),
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notJudged, EXIT.invalid],
  async run({ flags, words, world, talk }) {
    const format = FORMATS[words[0]!]!;
    const run = await openRun(flags.run, world);
    if (isOfTrials(run)) {
      await world.stdout.write(trialsText(words[0]!, format, readScore(run)));
      return EXIT.done;
    }
    const material = await materialOf(run);
    const refused = refusal(words[0]!, format, material.analysis);
    if (refused) throw refused;
    for (const one of format.leftOut?.(material) ?? []) talk.warn(one);
    await world.stdout.write(format.text(material));
    return EXIT.done;
  },
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
