#!/usr/bin/env node
/**
 * agent: what a coding agent costs on its own, against a scripted model.
 *
 *   main.ts seed   --agent FILE --arm DIR --dir DIR --turns N [--scenarios A,B]    writes DIR/seed.json
 *   main.ts sample --agent FILE --arm DIR --dir DIR --turns N [--scenarios A,B]    measures once; prints one JSON line
 *
 * FILE is the agent's settings, --arm the directory it is installed in. TypeScript that Node ≥ 24 and Bun run as it is.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fingerprintOf, type Scenario, SCENARIOS } from './definition.ts';
import { AgentFailure } from './failure.ts';
import { overheadSample } from './overhead.ts';
import { readSettings, type Settings } from './settings.ts';

const USAGE =
  'usage: main.ts seed|sample --agent FILE --arm DIR --dir DIR --turns N [--scenarios version,print,print-tools,rpc,pty] [--limit S]';

const end = (status: number, ...problems: string[]): never => {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exit(status);
};

const given = () => {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        agent: { type: 'string' },
        arm: { type: 'string' },
        dir: { type: 'string' },
        turns: { type: 'string' },
        scenarios: { type: 'string', default: SCENARIOS.join() },
        limit: { type: 'string', default: '120' },
      },
    });
  } catch (error) {
    return end(2, (error as Error).message, USAGE);
  }
};

const settingsIn = (file: string): Settings => {
  try {
    const read = readSettings(JSON.parse(readFileSync(file, 'utf8')));
    return 'settings' in read ? read.settings : end(2, ...read.problems.map((one) => `'${file}': ${one}`));
  } catch (error) {
    return end(2, `can't read the settings '${file}': ${(error as Error).message}`);
  }
};

/** Scenarios that the settings have nothing for. */
const missing = (settings: Settings, scenarios: readonly Scenario[]): Scenario[] =>
  scenarios.filter((one) => (one === 'rpc' && !settings.rpc) || (one === 'pty' && !settings.terminal));

const { positionals, values } = given();
const [step] = positionals;
const { agent, arm, dir, turns, limit } = values;
const scenarios = values.scenarios.split(',') as Scenario[];
if (
  (step !== 'seed' && step !== 'sample') ||
  positionals.length > 1 ||
  agent === undefined ||
  arm === undefined ||
  dir === undefined ||
  !/^[1-9]\d{0,3}$/.test(turns ?? '') ||
  !/^[1-9]\d{0,3}$/.test(limit) ||
  !scenarios.every((one) => SCENARIOS.includes(one)) ||
  !scenarios.includes('print-tools')
)
  end(2, USAGE);

const settings = settingsIn(agent!);
const rounds = Number(turns);
const fingerprint = fingerprintOf(scenarios, rounds);
const seedFile = join(dir!, 'seed.json');

const lacks = missing(settings, scenarios);
if (lacks.length > 0)
  end(
    1,
    `agent '${settings.name}' has no ${lacks.join(' and no ')} in its settings '${agent}'; leave that out of --scenarios, for every target`,
  );
if (step === 'sample' && statSync(arm!, { throwIfNoEntry: false })?.isDirectory() !== true)
  end(1, `agent '${settings.name}' is not installed: '${arm}' is no directory; build a bundle with it`);

if (step === 'seed') {
  const from = performance.now();
  mkdirSync(dir!, { recursive: true });
  writeFileSync(seedFile, JSON.stringify({ seedMs: performance.now() - from, fingerprint, bytes: 0 }));
} else
  try {
    const seeded = (JSON.parse(readFileSync(seedFile, 'utf8')) as { fingerprint: unknown }).fingerprint;
    if (seeded !== fingerprint)
      end(1, `the seed was made for other work ('${String(seeded)}') than this sample ('${fingerprint}')`);
    const line = await overheadSample({
      settings,
      arm: resolve(arm!),
      dir: resolve(dir!),
      rounds,
      scenarios,
      limit: Number(limit) * 1000,
    });
    process.stdout.write(`${JSON.stringify(line)}\n`);
  } catch (error) {
    if (!(error instanceof AgentFailure)) throw error;
    end(1, `agent '${settings.name}' ${error.message} (${error.wrong})`);
  }
