#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { verbOf, verbsText } from '../../shared/verbs.ts';
import { flags } from './flags.ts';
import { VERBS } from './verbs.ts';

const more = `
${verbsText(VERBS)}

EXAMPLES

  k8sbench model --model qwen3-coder-30b-a3b-fp8 --staged SHA256 | kubectl apply -f -
  k8sbench model lock --model small-coder --engine llama.cpp --repository owner/name --revision SHA --file '*.gguf'
`;

export const tool = defineTool({
  name: 'model',
  about: 'a model for trials: prints its fetch Job, engine, Service and policy; pins models in models.lock',
  flags,
  words: [{ name: 'VERB', about: 'what to do (default: print)', options: Object.keys(VERBS) }],
  more,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  run: async (call) => verbOf('model', VERBS, call, 'print').run(call),
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
