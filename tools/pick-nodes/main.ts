#!/usr/bin/env bun
import { nodes as nodesSchema } from '../../schemas/nodes.ts';
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { connect } from '../../shared/kubernetes.ts';
import { jsonText } from '../../shared/read.ts';
import { openRun, touchAll } from '../../shared/rundir.ts';
import { removeManifests } from '../../shared/job/manifest-file.ts';
import { askedOfFlags, askedOfRun } from './asked.ts';
import { checkCalibration } from './calibration.ts';
import { flags } from './flags.ts';
import { pick, wouldList } from './pick.ts';
import { rankingTable } from './show.ts';

const more = `
Free CPU is what a node can allocate less what unfinished pods on it ask for, counted as the
scheduler counts. Usable nodes come first, then free CPU, free memory, name.

WHAT IT WRITES

  with --run: nodes.json in the run directory, and prints its path
  without: prints the names of the picked nodes, a line each; with --json the ranking

EXAMPLES

  k8sbench pick-nodes --run out/k8sbench-cmp-durable-store-20260102-030405
  k8sbench pick-nodes --cpus 4 --memory 16Gi --spread 3
  kubectl get nodes,pods -A -o json | k8sbench pick-nodes --from - --cpus 2 --json
`;

export const tool = defineTool({
  name: 'pick-nodes',
  about: 'ranks nodes by free CPU and picks those to run on',
  flags,
  more,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notJudged, EXIT.interrupted],
  async run({ flags: given, world, talk }) {
    for (const other of ['run', 'values'] as const)
      if (given[other] === '-' && given.from === '-')
        throw usage(`'--${other} -' and '--from -' both read stdin; name one of them`);
    const run = given.run === undefined ? undefined : await openRun(given.run, world);
    const asked = run ? askedOfRun(run, given) : await askedOfFlags(given, world);
    const prints = given.json || given.out === '-';
    if (given['dry-run']) {
      await world.stdout.write(
        jsonText(given.from ? { reads: given.from } : wouldList(connect(asked.values, world), asked)),
      );
      return EXIT.done;
    }
    const inputs = await run?.digests(['run.json', 'values.json']);
    const before = run?.has('nodes.json') && !prints ? run.json('nodes.json', nodesSchema) : undefined;
    if (run && !prints) {
      const same = before !== undefined && Bun.deepEquals(before.inputs, inputs);
      if (run.has('job.json') && (given.force || !same))
        throw usage(
          `'${run.shown}' was started already: its nodes stay; plan another run, or print a ranking with --json`,
        );
      if (same && !given.force) {
        talk.info(`'${run.shown}' has its nodes already: ${before.chosen.join(', ')}; '--force' picks again`);
        touchAll(run, ['nodes.json']);
        await world.stdout.write(`${run.shown}\n`);
        return EXIT.done;
      }
    }
    const picked = await pick(asked, given.from, world);
    talk.print(rankingTable(picked));
    for (const one of picked.warnings) talk.warn(one);
    if (run) checkCalibration(run, picked.chosen);
    if (run && !prints) {
      // Its Jobs were rendered for other nodes.
      if (!Bun.deepEquals(before?.chosen, picked.chosen)) removeManifests(run);
      run.writeJson('nodes.json', { ...picked, inputs });
    }
    await world.stdout.write(
      prints ? jsonText(picked) : run ? `${run.shown}\n` : `${picked.chosen.join('\n')}\n`,
    );
    return EXIT.done;
  },
});
export const main = tool.main;

if (import.meta.main) await runAsProgram(tool);
