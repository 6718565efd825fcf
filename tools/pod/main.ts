#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure } from '../../shared/failure.ts';
import { readStdin } from '../../shared/world.ts';
import { machineAt } from '../../shared/machine.ts';
import { runSession } from './session.ts';

export const tool = defineTool({
  name: 'pod',
  about: 'measures the targets of a plan, process by process',
  flags: {},
  more: `READS

  a compact plan, or a plan.json, from $K8SBENCH_PLAN, else from stdin

WRITES

  stdout  the session: facts, pin, cpu, seed, warmup, sample, stop, done, error, end (one JSON object a line)

ENVIRONMENT

  K8SBENCH_ROOT           {root} of the commands
  K8SBENCH_DATA           directory of the fixtures; without it one that is removed at the end
  K8SBENCH_DELIVERY       image, bundle or local, when it isn't the plan's
  K8SBENCH_COMMIT         commit of the artifacts, when {root} has no COMMIT
  K8SBENCH_SUBMITTED_AT   when its Job was made: the session's limit counts from then
  NODE_NAME, POD_NAME, K8SBENCH_IMAGE_REF, K8SBENCH_BUNDLE_SHA256   recorded in the facts

EXAMPLE

  k8sbench pod < out/RUN/plan.json > pod.log`,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.invalid, EXIT.interrupted],
  async run({ world }) {
    const hangup = new AbortController();
    const onHangup = (): void => hangup.abort('SIGHUP');
    process.once('SIGHUP', onHangup);
    const { exit, error } = await runSession({
      plan: async () => world.env['K8SBENCH_PLAN'] || (await readStdin(world)),
      env: world.env,
      cwd: world.cwd,
      host: world.host,
      machine: machineAt('/'),
      output: world.stdout,
      now: () => world.now(),
      random: (bytes) => world.random(bytes),
      interrupted: AbortSignal.any([world.interrupted, hangup.signal]),
    });
    process.off('SIGHUP', onHangup);
    // A plan that never came is still waited for.
    if (exit === EXIT.interrupted) process.stdin.destroy();
    if (error) throw new Failure(exit, error.message.split('\n'));
    return exit;
  },
});

export const main = tool.main;
if (import.meta.main) await runAsProgram(tool);
