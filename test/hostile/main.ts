#!/usr/bin/env bun
/**
 * The long run of hostile inputs: ten thousand for each reader, large ones, values files read by kubectl's own reader too, and
 * kills of every tool at each of its steps and at random moments. `main.ts [SEED [INPUTS]]`; the seed is printed and gives the
 * same inputs again. Ends with `N passed, N failed`. Needs Go and strace. About half an hour.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../shared/failure.ts';
import { parseYaml } from '../../shared/yaml.ts';
import { type Campaign, campaign, inParallel } from './campaign.ts';
import { CASES, crashLoop } from './crashes.ts';
import { inputRandom } from './fuzz.ts';
import { injectedProblems } from './injected.ts';
import { ofYaml } from './inputs.ts';
import { readAsKubectl } from './kubectl-yaml/read.ts';
import { READERS } from './readers.ts';
import { writersProblems } from './writers.ts';

const [seedGiven, inputsGiven] = process.argv.slice(2);
const seed = Number(seedGiven ?? Math.floor(Date.now() / 1000) % 1_000_000);
const inputs = Number(inputsGiven ?? 10_000);
/** Random kills of each command. */
const KILLS = 60;
const fixtures = resolve(import.meta.dir, '../../fixtures');
const text = (path: string): string => readFileSync(join(fixtures, path), 'utf8');

let passed = 0;
let failed = 0;
const tell = (what: string, problems: readonly string[]): void => {
  if (problems.length === 0) passed++;
  else failed++;
  console.log(`${problems.length === 0 ? 'pass' : 'FAIL'}  ${what}`);
  for (const one of problems.slice(0, 10)) console.log(`      ${one}`);
  if (problems.length > 10) console.log(`      ${problems.length - 10} more`);
};

const tellCampaign = (what: string, { inputs: met, exits, problem, violations }: Campaign): void => {
  const ends = Object.entries(exits).map(([exit, times]) => `exit ${exit}: ${times}`);
  tell(`${what}: ${met} inputs, ${ends.join(', ')}`, [
    ...(problem === undefined ? [] : [problem]),
    ...violations.map(
      (one) => `input ${one.input} (${one.how.join(', ')}): ${one.complaints.join('; ').slice(0, 600)}`,
    ),
  ]);
};

/** What is taken of mutated values files is what kubectl's reader makes of them. */
const yamlProblems = (): string[] => {
  const make = ofYaml(
    [text('values/every-setting.yaml'), text('schemas/values/valid.yaml')],
    [{ namespace: 'a', image: 'x', labels: { a: 'b' }, cpus: 2 }],
  );
  const normal = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value ?? null), (_, one) => (one === 0 ? 0 : one));
  const taken: { number: number; bytes: Buffer; value: unknown }[] = [];
  for (let number = 0; number < inputs; number++) {
    const { bytes } = make(inputRandom(seed, number));
    try {
      taken.push({ number, bytes, value: normal(parseYaml(bytes.toString('utf8'), 'f').value) });
    } catch (error) {
      if (!(error instanceof Failure)) return [`input ${number}: ${String(error)}`];
    }
  }
  const read = readAsKubectl(taken.map((one) => one.bytes));
  console.log(`      ${taken.length} of ${inputs} values files are taken`);
  return taken.flatMap(({ number, value }, at) => {
    const theirs = read[at]!;
    if ('error' in theirs) return [`input ${number}: kubectl refuses it: ${theirs.error}`];
    return isDeepStrictEqual(value, normal(theirs.json))
      ? []
      : [`input ${number}: ${JSON.stringify(value)} here, for kubectl ${JSON.stringify(theirs.json)}`];
  });
};

console.log(`seed ${seed}, ${inputs} inputs for each reader: main.ts ${seed} ${inputs} does the same again`);
const names = Object.keys(READERS);
await inParallel(
  names.map((name) => async () => tellCampaign(name, await campaign(name, seed, inputs))),
  2,
);
tell('values files as kubectl reads them', yamlProblems());
await inParallel(
  names
    .filter((name) => name !== 'values.json' && name !== 'profile.json')
    .map((name) => async () => tellCampaign(`${name}, large`, await campaign(name, seed, 0, true))),
  2,
);
await inParallel(
  Object.keys(CASES).map((name) => async () => {
    const { kills, problems } = await injectedProblems(name);
    tell(`${name}, killed at each of its steps: ${kills} kills`, problems);
    tell(`${name}, killed at ${KILLS} random moments`, await crashLoop(name, KILLS, seed));
  }),
  2,
);
for (const kind of ['track', 'attempts'] as const)
  tell(`${kind}.jsonl, twenty writers, ten of them killed`, await writersProblems(kind, 300, 10, seed));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
