#!/usr/bin/env bun
import { profile as schema } from '../../schemas/profile.ts';
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { gitIn } from '../../shared/git.ts';
import { BUILT_IN } from '../../shared/profiles/built-in.ts';
import { readProfile } from '../../shared/profiles/read.ts';
import { check, jsonText } from '../../shared/read.ts';
import { table } from '../../shared/terminal.ts';
import { removeBuilds } from './builds.ts';
import { profileOfCommits } from './commits.ts';
import { askedOf, flags } from './flags.ts';
import { plainProfile } from './plain-commands.ts';

const more = `
WHAT IT PRINTS

  A profile as JSON, checked: what is measured. k8sbench plan --profile FILE reads it, and
  --profile - reads it from stdin.

COMMANDS

  CMD is split into words as a shell splits them, and run without a shell: quotes and
  backslashes are read; pipes, redirections, variables and patterns are refused. To use them:
  sh -c '…'. A name for a target may stand before its command: --candidate 'fast=sort -n data'.

EXAMPLES

  k8sbench profile durable-store
  k8sbench profile --reference 'sort -n data' --candidate 'sort -n --parallel=2 data'
  k8sbench profile --old main --new WORKTREE --build 'make -j2' --sample './bin/app data'
`;

export const tool = defineTool({
  name: 'profile',
  about: 'makes, checks and prints profiles: what is measured',
  words: [{ name: 'PROFILE', about: 'a built-in name, a JSON file, or - for stdin: check and print it' }],
  flags,
  more,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  async run({ flags: values, words, world, talk }) {
    const asked = askedOf(values, words);
    if (asked.use === 'list') {
      const all = Object.values(BUILT_IN).map(({ name, rule, about }) => ({ name, rule, about }));
      await world.stdout.write(
        asked.json ? jsonText(all) : table(all.map(({ name, about }) => [name, about])),
      );
      return EXIT.done;
    }
    if (asked.use === 'remove-builds') {
      const { gone, busy } = removeBuilds(gitIn(world.cwd, world.env), world.env);
      for (const { path, why } of busy) talk.warn(`'${path}' ${why}; left alone`);
      for (const path of gone) await world.stdout.write(`${path}\n`);
      return EXIT.done;
    }
    const made =
      asked.use === 'check'
        ? (await readProfile(asked.profile, world)).profile
        : asked.use === 'commands'
          ? plainProfile(asked.commands)
          : await profileOfCommits(asked.commits, world, talk);
    await world.stdout.write(jsonText(check(schema, { value: made }, 'the profile', usage)));
    return EXIT.done;
  },
});
export const main = tool.main;

if (import.meta.main) await runAsProgram(tool);
