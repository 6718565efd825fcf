#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { verbsText } from '../../shared/verbs.ts';
import { flags } from './flags.ts';
import { verbOf, VERBS } from './verbs.ts';

const more = `
${verbsText(VERBS)}

A bundle's identity is the SHA-256 of its archive before compression: the same on every machine.

ENVIRONMENT

  K8SBENCH_ALLOW_DIRTY  1: as --allow-dirty
  K8SBENCH_CACHE_MAX    the most that a build leaves of built artifacts and archives (default: 10Gi)
  XDG_CACHE_HOME        where they are kept (default: ~/.cache)

EXAMPLES

  k8sbench bundle build --recipe bundle.yaml --out bundle --arch arm64
  k8sbench bundle check bundle --profile durable-store
  k8sbench bundle pack bundle --out bundle.tar.gz
  k8sbench bundle diff old new
`;

export const tool = defineTool({
  name: 'bundle',
  about: 'builds, checks, packs and compares bundles: what a session measures, pinned to the last byte',
  flags,
  words: [
    { name: 'VERB', about: 'what to do', required: true, options: Object.keys(VERBS) },
    { name: 'DIR…', about: 'the bundle, or two of them; lock: the arms.lock' },
  ],
  more,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  run: async (call) => verbOf(call).run(call),
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
