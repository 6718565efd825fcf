#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { duration, text, yes } from '../../shared/flags.ts';
import { jsonText } from '../../shared/read.ts';
import { openRun } from '../../shared/rundir.ts';
import type { Ending } from './ending.ts';
import { readJob } from './job-file.ts';
import { isFinished, measure, readRun } from './measure.ts';
import { measureSessions } from './sessions.ts';
import type { Manner } from './task.ts';

export const tool = defineTool({
  name: 'run-session',
  about: 'measures a planned run: starts its session, follows its log, verifies and keeps it',
  flags: {
    run: text("run directory; '-': its path on stdin", 'DIR'),
    keep: yes('keep the fixtures of a local session, and say where they are'),
    detach: yes('leave once the session is on its way in the cluster; the same command attaches again'),
    settle: duration('how long a cause that does not pass by itself may stand before it ends the run', '90s'),
    'read-kubelet-config': yes("record the kubelet's CPU manager policy (needs the right nodes/proxy)"),
    force: yes('measure a finished run again; its earlier log is kept aside'),
    json: yes('print job.json instead of the path'),
  },
  more: `FILES

  reads   run.json plan.json
  writes  job.json pod.log spread.json, MANIFEST.sha256 last; failed and void attempts to ../attempts.jsonl
  prints  the run directory's path, or job.json`,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.invalid, EXIT.interrupted],
  async run({ flags, world, talk }) {
    const run = await openRun(flags.run, world);
    const about = readRun(run);
    const manner: Manner = {
      ...{ world, talk, keep: flags.keep, force: flags.force, detach: flags.detach },
      ...{ settle_s: flags.settle!, readKubeletConfig: flags['read-kubelet-config'] },
    };
    const several = (about.children?.length ?? 0) > 0;
    const ending: Pick<Ending, 'outcome' | 'exit' | 'message'> = (await isFinished(run, about, manner))
      ? { outcome: 'done', exit: EXIT.done }
      : await (several ? measureSessions : measure)(run, about, manner);
    if (ending.exit === EXIT.invalid) talk.error(`'${run.shown}' is invalid: ${ending.message}`);
    if (ending.outcome === 'running' && ending.exit !== EXIT.done) {
      talk.error(`'${run.shown}': ${ending.message}`);
      return ending.exit;
    }
    if (ending.exit === EXIT.interrupted)
      talk.error(
        `'${run.shown}': ${ending.message}; measure it anew with 'k8sbench run-session --run ${run.shown}'`,
      );
    if (ending.exit !== EXIT.interrupted)
      await world.stdout.write(flags.json ? jsonText(readJob(run)) : `${run.shown}\n`);
    return ending.exit;
  },
});
export const main = tool.main;

if (import.meta.main) await runAsProgram(tool);
