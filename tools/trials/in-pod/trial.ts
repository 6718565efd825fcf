/**
 * One trial, in the task's own image: the agent works, everything of it is ended, the gate is asked for the tests with a nonce
 * chosen then, the tests run, and the gate is told what they said. Nothing is printed: what a container prints, the agent can print.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ArmSettings } from '../../../schemas/arm-settings.ts';
import { fewerRights, isOpenToAgent, runAgent, startsHere, type Work } from './agent.ts';
import {
  ALIVE,
  ANSWER,
  BEGIN,
  clear,
  keepAlive,
  KEY,
  opened,
  put,
  readForeign,
  REFUSED,
  REQUEST,
  RESULT,
  sealed,
  Signs,
  sleep,
  TESTS,
  TOOK_KEY,
} from './exchange.ts';
import { NOTHING, type Report } from './line.ts';
import { endOthers } from './processes.ts';
import { lookAround, plantedIn } from './surroundings.ts';
import { verify } from './verifier.ts';

export interface TrialSpec {
  arm: ArmSettings;
  model: { url: string; name: string; contextTokens?: number };
  testsSha256: string;
  agent_s: number;
  verifier_s: number;
  /** For the gate to start, s. */
  start_s: number;
  /** More processes than this in the container are too many. */
  processes: number;
  env?: Record<string, string>;
  verifierEnv?: Record<string, string>;
  /** What the agent changed in the system is told, and a reward counts all the same. */
  trustSystem?: boolean;
}

export interface TrialPlace {
  /** Node, the arm, the instruction; read-only. */
  runtime: string;
  ask: string;
  answer: string;
  home: string;
  /** `/` of the container. */
  root: string;
  tests: string;
  logs: string;
  workdir: string;
}

const LOOK_MS = 200;
/** For the gate to copy the tests, s; one that shows no sign of life for so long is gone. */
const ANSWER_S = 600;
const GATE_SILENCE_S = 60;

const seen = async (seconds: number, look: () => boolean): Promise<boolean> => {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    if (look()) return true;
    if (performance.now() > end) return false;
    await sleep(LOOK_MS);
  }
};

const texts = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
    .filter((path) => statSync(path).size < 1 << 20)
    .map((path) => readFileSync(path, 'latin1'));

const environment = (env: NodeJS.ProcessEnv, more: Record<string, string> = {}): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(env).filter(
      (one): one is [string, string] => one[1] !== undefined && !/^(K8SBENCH_|KUBERNETES_)/.test(one[0]),
    ),
  ),
  ...more,
});

/** Asks the gate; where the tests are, or why they are not had. */
const askForTests = async (
  key: Buffer,
  { ask, answer }: TrialPlace,
): Promise<{ tests: string } | Pick<Report, 'error' | 'fault'>> => {
  const asked = { error: 'the agent asked the gate for the tests', fault: 'agent' } as const;
  if ([ANSWER, REFUSED, TESTS].some((name) => existsSync(join(answer, name)))) return asked;
  const nonce = randomBytes(32).toString('hex');
  clear(ask);
  put(ask, REQUEST, sealed(key, REQUEST, { nonce }));
  const gate = new Signs(join(answer, ALIVE));
  const came = await seen(
    ANSWER_S,
    () =>
      existsSync(join(answer, ANSWER)) ||
      existsSync(join(answer, REFUSED)) ||
      gate.silent_s() > GATE_SILENCE_S,
  );
  if (!came || gate.silent_s() > GATE_SILENCE_S)
    return { error: 'the gate gave no answer', fault: 'infrastructure' };
  const found = readForeign(join(answer, ANSWER));
  const given = found.is === 'text' ? (opened(key, ANSWER, found.text) as { nonce?: unknown }) : undefined;
  return given?.nonce === nonce ? { tests: join(answer, TESTS) } : asked;
};

/** The first few of many. */
const told = (all: readonly string[]): string[] => [
  ...all.slice(0, 3),
  ...(all.length > 3 ? [`and ${all.length - 3} more`] : []),
];

const trialOf = async (spec: TrialSpec, place: TrialPlace, key: Buffer): Promise<Report> => {
  const env = environment(process.env, spec.env);
  const fewer = fewerRights(env);
  const work: Work = { ...spec, ...place, env, fewer };
  const version = await startsHere(work);
  if (version !== undefined) return { ...NOTHING, error: version, fault: 'arm' };
  const open = isOpenToAgent(fewer) ? ["on this node the agent could read the trial's memory"] : [];
  const before = lookAround(env, place.workdir, place.root);
  const agent = await runAgent(work, () => existsSync(join(place.answer, REFUSED)));
  const left = await endOthers();
  if (agent.error !== undefined) return agent;
  const none = (why: Pick<Report, 'error' | 'fault'>): Report => ({ ...agent, ...why });
  if (left.length > 0)
    return none({ error: `${left.length} processes of the agent can't be ended`, fault: 'agent' });
  const given = await askForTests(key, place);
  if (!('tests' in given)) return none(given);
  const planted = told(plantedIn(before, lookAround(env, place.workdir, place.root), texts(given.tests)));
  if (planted.length > 0 && spec.trustSystem !== true)
    return none({
      error: `the agent changed what the verifier runs with: ${planted.join('; ')}`,
      fault: 'agent',
    });
  const verdict = await verify(
    given.tests,
    { ...place, workdir: existsSync(place.workdir) ? place.workdir : place.root },
    {
      // The tests start what the agent wrote.
      before: fewer,
      testsSha256: spec.testsSha256,
      limit_s: spec.verifier_s,
      processes: spec.processes,
      env: { ...env, ...spec.verifierEnv },
    },
  );
  const notes = [...open, ...planted];
  return { ...agent, ...verdict, ...(notes.length > 0 ? { notes } : {}) };
};

/** Runs a trial to its end; the gate has its report then. */
export const runTrial = async (spec: TrialSpec, place: TrialPlace): Promise<void> => {
  const { ask, answer } = place;
  // Nobody in the container ends the trial, or makes Node listen for a debugger.
  for (const signal of [
    'SIGTERM',
    'SIGINT',
    'SIGHUP',
    'SIGQUIT',
    'SIGUSR1',
    'SIGUSR2',
    'SIGALRM',
    'SIGPIPE',
    'SIGTSTP',
    'SIGTTIN',
    'SIGTTOU',
  ] as const)
    process.on(signal, () => undefined);
  if (!(await seen(spec.start_s, () => existsSync(join(answer, KEY)))))
    throw new Error(`the gate did not start within ${spec.start_s} s`);
  const key = Buffer.from(readFileSync(join(answer, KEY), 'utf8'), 'hex');
  put(ask, TOOK_KEY, '');
  if (!(await seen(60, () => existsSync(join(answer, BEGIN)) && !existsSync(join(answer, KEY)))))
    throw new Error('the gate took the key and did not begin');
  const alive = keepAlive(ask);
  let report: Report;
  try {
    report = await trialOf(spec, place, key);
  } catch (error) {
    report = { ...NOTHING, error: `the trial failed: ${(error as Error).message}`, fault: 'infrastructure' };
  } finally {
    clearInterval(alive);
  }
  await endOthers();
  clear(ask);
  put(ask, RESULT, sealed(key, RESULT, report));
};
