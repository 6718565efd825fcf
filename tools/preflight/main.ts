#!/usr/bin/env bun
import { defineTool, runAsProgram } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { usage } from '../../shared/failure.ts';
import { countOf, findingsText } from '../../shared/findings.ts';
import { connect } from '../../shared/kubernetes.ts';
import { jsonText } from '../../shared/read.ts';
import { openRun } from '../../shared/rundir.ts';
import { painter } from '../../shared/terminal.ts';
import { VERSION } from '../../shared/version.ts';
import { askedOfFlags, askedOfRun } from './asked.ts';
import { findingsOf, verdictOf } from './findings.ts';
import { flags } from './flags.ts';
import { lookAt, wouldAsk } from './look.ts';

const more = `
PRINTS

  what was found, what it means for a run, and what to do about it; nothing is made in the cluster:
  ok      nothing to do
  warn    a run works, but less well, or something could not be known
  fail    no run works as things are
  With --run the table goes to stderr and the run directory's path to stdout. When a finding
  fails, the exit status is 1 and everything goes to stderr.

EXAMPLES

  k8sbench preflight --namespace team --image registry.example/bench@sha256:… --cpus 2
  k8sbench plan … | k8sbench render --run - | k8sbench preflight --run - | k8sbench run-session --run -
  k8sbench preflight --json | jq -r '.findings[] | select(.status != "ok") | .remedy'
`;

export const tool = defineTool({
  name: 'preflight',
  about: 'tells whether account, namespace, cluster and image can do a run, before it is tried',
  flags,
  more,
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted],
  async run({ flags: given, world, talk }) {
    if (given.run === '-' && given.values === '-')
      throw usage("'--run -' and '--values -' both read stdin; name one of them");
    const run = given.run === undefined ? undefined : await openRun(given.run, world);
    const asked = run ? await askedOfRun(run, given) : await askedOfFlags(given, world);
    const cluster = connect(asked.values, world);
    if (given['dry-run']) {
      await world.stdout.write(jsonText(wouldAsk(cluster, asked)));
      return EXIT.done;
    }
    const { server, context } = cluster;
    const { namespace } = asked;
    const findings = findingsOf(asked, await lookAt(cluster, asked, world));
    const canRun = countOf(findings, 'fail') === 0;
    const out = canRun && (given.json || !run) ? world.stdout : world.stderr;
    const text = given.json
      ? jsonText({
          format: 'preflight/1',
          k8sbench: VERSION,
          server,
          context,
          namespace,
          canRun,
          findings,
        })
      : findingsText(findings, verdictOf(findings), painter(out.isTerminal && !world.env['NO_COLOR']));
    if (out === world.stderr) talk.print(text);
    else await out.write(text);
    if (canRun && run && !given.json) await world.stdout.write(`${run.shown}\n`);
    return canRun ? EXIT.done : EXIT.failed;
  },
});
export const main = tool.main;

if (import.meta.main) await runAsProgram(tool);
