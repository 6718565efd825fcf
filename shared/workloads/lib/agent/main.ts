#!/usr/bin/env node
/**
 * agent: what a coding agent costs on its own, against a scripted model.
 *
 *   main.ts seed   --agent FILE --arm DIR --dir DIR --turns N [--workload W]    writes DIR/seed.json
 *   main.ts sample --agent FILE --arm DIR --dir DIR --turns N [--workload W]    measures once; prints one JSON line
 *
 * FILE is the agent's settings, --arm the directory it is installed in. Workloads: overhead (N rounds of tools; --scenarios
 * leaves some out, as do settings without its mode), context (a session of N tokens), entries (of N entries), history (of N tokens, compacted above a
 * million). TypeScript that Node ≥ 24 and Bun run as it is.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fingerprintOf, type Scenario, SCENARIOS } from './definition.ts';
import { AgentFailure } from './failure.ts';
import { lacking, overheadSample } from './overhead.ts';
import { historySample } from './history.ts';
import { contextFor, longFingerprint } from './long.ts';
import type { Seed } from './resumed.ts';
import { scaleSample } from './scale.ts';
import { writeSession } from './session.ts';
import { readSettings, type Settings } from './settings.ts';

const WORKLOADS = ['overhead', 'context', 'entries', 'history'] as const;
type Workload = (typeof WORKLOADS)[number];

const USAGE =
  'usage: main.ts seed|sample --agent FILE --arm DIR --dir DIR --turns N [--workload overhead|context|entries|history] [--scenarios version,print,print-tools,rpc,pty] [--limit S]';

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
        workload: { type: 'string', default: 'overhead' },
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

const { positionals, values } = given();
const [step] = positionals;
const { agent, arm, dir, turns, limit } = values;
const workload = values.workload as Workload;
const scenarios = values.scenarios.split(',') as Scenario[];
if (
  (step !== 'seed' && step !== 'sample') ||
  positionals.length > 1 ||
  agent === undefined ||
  arm === undefined ||
  dir === undefined ||
  !/^[1-9]\d{0,7}$/.test(turns ?? '') ||
  !/^[1-9]\d{0,3}$/.test(limit) ||
  !WORKLOADS.includes(workload) ||
  !scenarios.every((one) => SCENARIOS.includes(one)) ||
  !scenarios.includes('print-tools')
)
  end(2, USAGE);

const settings = settingsIn(agent!);
const size = Number(turns);
const fingerprint =
  workload === 'overhead' ? fingerprintOf(scenarios, size) : longFingerprint(workload, size);
const seedFile = join(dir!, 'seed.json');

/** What a long session needs and the settings have nothing for. */
const lacks: string[] =
  workload === 'overhead'
    ? []
    : [
        ...(settings.session ? [] : ['session']),
        ...(settings.terminal ? [] : ['terminal']),
        ...(workload === 'history' && !settings.session?.rpc ? ['session.rpc'] : []),
      ];
if (lacks.length > 0)
  end(
    1,
    `agent '${settings.name}' has no ${lacks.join(' and no ')} in its settings '${agent}'; it can have no part in this workload`,
  );
if (step === 'sample' && statSync(arm!, { throwIfNoEntry: false })?.isDirectory() !== true)
  end(1, `agent '${settings.name}' is not installed: '${arm}' is no directory; build a bundle with it`);

const readSeed = (): Seed => {
  const seed = JSON.parse(readFileSync(seedFile, 'utf8')) as Seed;
  if (seed.fingerprint !== fingerprint)
    end(1, `the seed was made for other work ('${seed.fingerprint}') than this sample ('${fingerprint}')`);
  return seed;
};

const measure = (): Promise<object> => {
  const seed = readSeed();
  const asked = { settings, arm: resolve(arm!), dir: resolve(dir!), limit: Number(limit) * 1000 };
  if (workload === 'overhead') return overheadSample({ ...asked, rounds: size, scenarios });
  const long = { ...asked, seed, context: contextFor(workload, size) };
  return workload === 'history' ? historySample(long) : scaleSample(long);
};

if (step === 'seed') {
  const from = performance.now();
  mkdirSync(dir!, { recursive: true });
  const written =
    workload === 'overhead'
      ? {}
      : {
          file: 'session.jsonl',
          ...writeSession(join(dir!, 'session.jsonl'), settings.session!.lines, workload, size),
        };
  const left = workload === 'overhead' ? lacking(settings, scenarios) : [];
  if (left.length > 0)
    process.stderr.write(
      `agent '${settings.name}' has no ${left.join(' and no ')} in its settings '${agent}'; left out\n`,
    );
  writeFileSync(
    seedFile,
    JSON.stringify({
      seedMs: performance.now() - from,
      fingerprint,
      ...(left.length > 0 ? { leftOut: left } : {}),
      ...written,
    }),
  );
} else
  try {
    process.stdout.write(`${JSON.stringify(await measure())}\n`);
  } catch (error) {
    if (!(error instanceof AgentFailure)) throw error;
    end(1, `agent '${settings.name}' ${error.message} (${error.wrong})`);
  }
