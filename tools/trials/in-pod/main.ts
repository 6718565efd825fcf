/**
 * What runs in the pods of trials and models as one file, trials.mjs, on the bundle's Node: its first argument says what it is.
 * All it has to know stands in K8SBENCH_SPEC; where things lie is the same in every pod (places.ts).
 */
import { writeFileSync } from 'node:fs';
import { cwd } from 'node:process';
import { HOPELESS_EXIT } from '../../../shared/task-run/names.ts';
import { awaitModel, type AwaitSpec } from './await-model.ts';
import { FetchError, fetchModel, type FetchSpec } from './fetch.ts';
import { type GateSpec, runGate } from './gate.ts';
import { lineOf, messageOf } from './line.ts';
import { PLACES } from './places.ts';
import { prepare, type PrepareSpec } from './prepare.ts';
import { serveReadiness } from './ready.ts';
import { runTrial } from './trial.ts';

const ended = new AbortController();

/** Its container's last word, where the API server shows it. */
const leaveMessage = (text: string): void => {
  try {
    writeFileSync('/dev/termination-log', text);
  } catch {
    // Not in a pod.
  }
};

const spec = <T>(): T => JSON.parse(process.env['K8SBENCH_SPEC'] ?? '{}') as T;

const VERBS: Readonly<Record<string, () => Promise<void> | void>> = {
  prepare() {
    const about = spec<PrepareSpec>();
    prepare(about, PLACES.bundle(about.staged), PLACES.runtime);
  },
  // On the task's image: that it came so far is all there is to see.
  starts: () => undefined,
  async gate() {
    process.on('SIGTERM', () => ended.abort());
    const about = spec<GateSpec>();
    const { task, arm, attempt, model, image } = about;
    const report = await runGate(
      about,
      { ...PLACES.gate, tests: `${PLACES.bundle(about.staged)}/tasks/${about.task}/tests` },
      ended.signal,
    );
    const who = { task, arm, attempt, model, image };
    leaveMessage(messageOf(who, report));
    process.stdout.write(`${lineOf(who, report)}\n`);
  },
  trial: () => runTrial(spec(), { ...PLACES.trial, workdir: cwd() }),
  fetch() {
    const about = spec<FetchSpec>();
    return fetchModel(about, PLACES.model(about.id));
  },
  'await-model'() {
    const about = spec<AwaitSpec>();
    return awaitModel(about, PLACES.model(about.id));
  },
  ready: () => serveReadiness(spec()),
};

const verb = VERBS[process.argv[2] ?? ''];
try {
  if (!verb) throw new Error(`expected one of ${Object.keys(VERBS).join(', ')}`);
  await verb();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  leaveMessage(message.slice(0, 4000));
  process.stderr.write(`${process.argv[2]}: ${message}\n`);
  process.exitCode = error instanceof FetchError && error.hopeless ? HOPELESS_EXIT : 1;
}
