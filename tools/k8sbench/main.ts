#!/usr/bin/env bun
import type { Tool } from '../../shared/command-line.ts';
import { realWorld, type World } from '../../shared/world.ts';
import { wordsCalled } from './called.ts';
import { ABOUT, TOOLS } from './table.ts';

/**
 * Calls one tool of the table, which alone is loaded. Everything else (help, a version, a wrong name) is in a module of its
 * own: the dispatcher adds nothing to a tool's start.
 */
export const main: Tool['main'] = async (args: readonly string[], world: World) => {
  const entry = args[0] !== undefined && Object.hasOwn(TOOLS, args[0]) ? TOOLS[args[0]] : undefined;
  return entry
    ? (await entry.load()).tool.main(args.slice(1), world)
    : (await import('./help.ts')).answer(args, world);
};

export const tool: Tool = {
  name: 'k8sbench',
  about: ABOUT,
  flags: {},
  words: [],
  help: async () => (await import('./help.ts')).helpText(),
  main,
};

/** This process as k8sbench, or as the tool that it was called by. */
export const start = async (): Promise<void> => {
  const words = wordsCalled(process.argv0, process.argv.slice(2), Object.keys(TOOLS));
  process.exitCode = await main(words, realWorld());
};

if (import.meta.main) await start();
