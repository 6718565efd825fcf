/** What this machine can and can't do for a local session. Each check is a pure function over what was looked at. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from '../../shared/command-line.ts';
import { EXIT } from '../../shared/exit.ts';
import { yes } from '../../shared/flags.ts';
import { type Machine, machineAt } from '../../shared/machine.ts';
import { jsonText } from '../../shared/read.ts';
import { painter } from '../../shared/terminal.ts';
import { VERSION } from '../../shared/version.ts';
import { accounting } from './doctor/accounting.ts';
import { clock } from './doctor/clock.ts';
import { cores } from './doctor/cores.ts';
import { disk } from './doctor/disk.ts';
import type { Finding, Sight, Trials } from './doctor/finding.ts';
import { memory } from './doctor/memory.ts';
import { neighbours } from './doctor/neighbours.ts';
import { programs } from './doctor/programs.ts';
import { findingsText } from './doctor/show.ts';
import { tryOut } from './doctor/trials.ts';

/** How long the cores are watched, ms. */
const WATCH_MS = 1000;

const CHECKS = [programs, cores, clock, accounting, neighbours, memory, disk];

export const findingsOf = (sight: Sight): Finding[] => CHECKS.flatMap((check) => check(sight));

/** Looks at a machine. The cores are watched before anything is tried: the trials are work too. */
const look = async (machine: Machine, trials: () => Promise<Trials>): Promise<Sight> => {
  const before = machine.read('/proc/stat') ?? '';
  await sleep(WATCH_MS);
  const after = machine.read('/proc/stat') ?? '';
  return { machine, stat: { before, after }, trials: await trials() };
};

export const tool = defineTool({
  name: 'doctor',
  about: "tells what this machine can and can't do for a local session, and what to do about it",
  flags: { json: yes('print the findings as JSON') },
  more: `PRINTS

  what was found, what it means for a measurement, and what to do about it, in a second or two:
  ok      nothing to do
  warn    a session runs, but measures less well, or not everything
  fail    no local session runs
  When one fails, the exit status is 1 and everything goes to stderr.

EXAMPLES

  k8sbench doctor
  k8sbench doctor --json | jq -r '.findings[] | select(.status != "ok") | .remedy'`,
  exits: [EXIT.done, EXIT.failed, EXIT.usage],
  async run({ flags, world }) {
    const machine = machineAt('/');
    const findings = findingsOf(await look(machine, () => tryOut(world, machine)));
    const canRun = findings.every((one) => one.status !== 'fail');
    const out = canRun ? world.stdout : world.stderr;
    await out.write(
      flags.json
        ? jsonText({ format: 'doctor/1', host: world.host, k8sbench: VERSION, canRun, findings })
        : findingsText(findings, painter(out.isTerminal && !world.env['NO_COLOR'])),
    );
    return canRun ? EXIT.done : EXIT.failed;
  },
});
