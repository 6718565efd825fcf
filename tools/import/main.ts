#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { decimal, text, yes } from '../../shared/flags.ts';
import { bringIn } from './bring-in.ts';
import { FORMATS } from './formats.ts';

export const tool = defineTool({
  name: 'import',
  about: "makes a run directory of another program's measurements",
  flags: {
    reference: text("one file: the reference's name in it; two files: what the first is called", 'NAME'),
    candidate: text("one file: the candidate's name in it; two files: what the second is called", 'NAME'),
    benchmark: text('two files: the benchmark, when they have several in common', 'NAME'),
    margin: decimal('differences up to this share are the same (default: 3%)', 'SHARE', { above: 0 }),
    'machines-apart': yes('two files of two machines: compare them all the same, with a doubt'),
    profile: text("what is measured (default: the benchmark's name)", 'NAME'),
    commit: text("the candidate's commit", 'COMMIT'),
    purpose: text('what the run is for', 'WORD', { default: 'main' }),
    out: text('directory of run directories', 'DIR', { default: 'out' }),
  },
  words: [
    { name: 'FORMAT', about: 'which program wrote the files', required: true, options: Object.keys(FORMATS) },
    {
      name: 'FILE…',
      about: "one file, or the reference's and the candidate's; '-' is stdin",
      required: true,
    },
  ],
  more: [
    'FORMATS',
    '',
    ...Object.entries(FORMATS).map(([name, { about }]) => `  ${name.padEnd(18)}${about}`),
    '',
    'PRINTS',
    '',
    "  the run directory's path",
    '',
    'EXAMPLES',
    '',
    "  k8sbench import hyperfine sort.json --reference 'sort -n data' --candidate 'sort data'",
    '  k8sbench import go-bench old.txt new.txt --benchmark BenchmarkFields | k8sbench view --run -',
  ].join('\n'),
  exits: [EXIT.done, EXIT.failed, EXIT.usage],
  run: bringIn,
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
