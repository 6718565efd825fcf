#!/usr/bin/env bun
import { readFileSync } from 'node:fs';
import { job } from '../../schemas/job.ts';
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { choice, text } from '../../shared/flags.ts';
import { openRun, type RunDirectory, touchAll } from '../../shared/rundir.ts';
import { formatYaml } from '../../shared/yaml-format.ts';
import { manifestOf } from '../../shared/job/manifest.ts';
import { MANIFEST_FILE } from '../../shared/job/manifest-file.ts';
import { partsOf } from '../../shared/job/sessions.ts';

const more = `
WHAT IT READS AND WRITES

  run.json plan.json values.json nodes.json  →  manifest.yaml, the Job of each session
  Contacts no cluster. A run of several sessions has a manifest in each child's directory.
  Prints the run directory's path; with --out - the manifests.

EXAMPLES

  k8sbench render --run out/k8sbench-cmp-durable-store-20260102-030405
  k8sbench render --out - --run out/… | kubectl diff -f -
`;

/** Whether a session goes on, or is done: what it was submitted with stays. One that ended otherwise is measured anew. */
const isMeasured = (part: RunDirectory): boolean =>
  part.has('job.json') && ['running', 'done'].includes(part.json('job.json', job).outcome);

export const tool = defineTool({
  name: 'render',
  about: 'writes the Job of a session as a manifest, without contacting a cluster',
  flags: {
    run: text('the run directory, or - for its path on stdin', 'DIR'),
    out: choice('print the manifest instead of writing it', ['-']),
  },
  more,
  exits: [EXIT.done, EXIT.failed, EXIT.usage],
  async run({ flags, world, talk }) {
    const run = await openRun(flags.run, world);
    const parts = (await partsOf(run)).map(({ run: part, session }) => ({
      part,
      manifest: formatYaml(manifestOf(session)),
    }));
    if (flags.out === '-') {
      await world.stdout.write(parts.map(({ manifest }) => manifest).join('---\n'));
      return EXIT.done;
    }
    const changed = parts.filter(
      ({ part, manifest }) =>
        !part.has(MANIFEST_FILE) || readFileSync(part.file(MANIFEST_FILE), 'utf8') !== manifest,
    );
    const kept = changed.filter(({ part }) => part.has(MANIFEST_FILE) && isMeasured(part));
    if (kept.length > 0)
      throw usage(
        kept.map(({ part }) => `'${part.shown}' was started already with another manifest; plan a new run`),
      );
    for (const { part, manifest } of changed) part.write(MANIFEST_FILE, manifest);
    for (const { part } of parts)
      if (changed.every((one) => one.part !== part)) touchAll(part, [MANIFEST_FILE]);
    talk.info(
      changed.length === 0
        ? `'${run.shown}' has its ${MANIFEST_FILE} already`
        : parts.map(({ part }) => `${part.shown}/${MANIFEST_FILE}`).join('\n'),
    );
    await world.stdout.write(`${run.shown}\n`);
    return EXIT.done;
  },
});
export const main = tool.main;

if (import.meta.main) await runAsProgram(tool);
