#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { duration, text, yes } from '../../shared/flags.ts';
import { jsonText } from '../../shared/read.ts';
import { openRun } from '../../shared/rundir.ts';
import { act } from './actions.ts';
import { type Action, ACTIONS, checkAsked, checkLocal } from './asked.ts';
import type { Ending } from './ending.ts';
import { readJob } from './job-file.ts';
import { isFinished, measure, readRun, wouldDo } from './measure.ts';
import { measureSessions } from './sessions.ts';
import type { Manner } from './task.ts';

export const tool = defineTool({
  name: 'run-session',
  about: 'measures a planned run: starts its session, follows its log, verifies and keeps it',
  words: [
    { name: 'ACTION', about: 'of a namespace or a run; without it a run is measured', options: ACTIONS },
    { name: 'NAME', about: 'the run to delete, when its directory is lost' },
  ],
  flags: {
    run: text("run directory; '-': its path on stdin", 'DIR'),
    detach: yes('leave once the session is on its way in the cluster; the same command attaches again'),
    settle: duration('how long a cause that does not pass by itself may stand before it ends the run', '90s'),
    'read-kubelet-config': yes("record the kubelet's CPU manager policy (needs the right to nodes/proxy)"),
    keep: yes('keep the fixtures of a local session, or the Job in the cluster'),
    'edited-manifest': yes(
      "submit manifest.yaml although it is not what 'render' writes; job.json tells how",
    ),
    force: yes('measure a finished run again; its earlier log is kept aside'),
    'dry-run': yes('print what would be done, contact nothing'),
    values: text(
      'list, delete NAME: values file (Default: $K8SBENCH_VALUES, else values.local.yaml)',
      'FILE',
    ),
    kubeconfig: text('list, delete NAME: kubeconfig file', 'FILE'),
    context: text('list, delete NAME: context of the kubeconfig', 'NAME'),
    namespace: text('list, delete NAME: the namespace', 'NAME'),
    json: yes('print job.json instead of the path; with list: JSON'),
  },
  more: `ACTIONS

  list              the runs of a namespace: waiting, running, done but not collected, failed, lost
  cancel --run DIR  stops a run: what is there is saved, what was created is removed
  delete --run DIR  removes what a run has in the cluster, and saves nothing
  delete NAME       the same for a run whose directory is lost

FILES

  reads   run.json plan.json, values.json manifest.yaml for a cluster
  writes  job.json pod.log cluster.json spread.json, MANIFEST.sha256 last; failed and void attempts to ../attempts.jsonl
  prints  the run directory's path, or job.json`,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.invalid, EXIT.interrupted],
  async run({ flags, given, words: [action, name], world, talk }) {
    checkAsked(action as Action | undefined, name, given);
    const { json, values, kubeconfig, context, namespace } = flags;
    const manner: Manner = {
      world,
      talk,
      keep: flags.keep,
      force: flags.force,
      detach: flags.detach,
      settle_s: flags.settle!,
      readKubeletConfig: flags['read-kubelet-config'],
      editedManifest: flags['edited-manifest'],
    };
    if (action !== undefined) {
      const about = { action: action as Action, name, run: flags.run, dryRun: flags['dry-run'] };
      return act({ ...about, json, place: { values, kubeconfig, context, namespace } }, manner);
    }
    const run = await openRun(flags.run, world);
    const about = readRun(run);
    checkLocal(about, run.shown, given);
    const several = (about.children?.length ?? 0) > 0;
    if (flags['dry-run']) {
      await world.stdout.write(jsonText(await wouldDo(run, about, manner)));
      return EXIT.done;
    }
    const ending: Pick<Ending, 'outcome' | 'exit' | 'message'> = (await isFinished(run, about, manner))
      ? { outcome: 'done', exit: EXIT.done }
      : await (several ? measureSessions : measure)(run, about, manner);
    if (ending.exit === EXIT.invalid) talk.error(`'${run.shown}' is invalid: ${ending.message}`);
    const left = ending.outcome === 'running' && ending.exit !== EXIT.done;
    if (left) talk.error(`'${run.shown}': ${ending.message}`);
    else if (ending.exit === EXIT.interrupted)
      talk.error(
        `'${run.shown}': ${ending.message}; measure it anew with 'k8sbench run-session --run ${run.shown}'`,
      );
    if (!left && ending.exit !== EXIT.interrupted)
      await world.stdout.write(json ? jsonText(readJob(run)) : `${run.shown}\n`);
    return ending.exit;
  },
});
export const main = tool.main;

if (import.meta.main) await runAsProgram(tool);
