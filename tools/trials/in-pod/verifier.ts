/** Runs the tests where the agent worked, once nothing of it runs any more, and reads the reward that they write. */
import {
  chmodSync,
  closeSync,
  constants,
  cpSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { listDigest, type TreeFile, treeOf } from '../../../shared/tree-digest.ts';
import { runCommand } from './command.ts';
import { clear } from './exchange.ts';
import type { Report } from './line.ts';
import { endOthers } from './processes.ts';

export interface VerifierPlace {
  tests: string;
  logs: string;
  workdir: string;
}

export interface Verifying {
  /** What stands before the tests' command. */
  before: readonly string[];
  testsSha256: string;
  limit_s: number;
  processes: number;
  env: Record<string, string>;
}

type Verdict = Pick<Report, 'reward' | 'verifierExit' | 'verifierWallMs' | 'error' | 'fault'>;

/** A longer reward is none, bytes. */
const LARGEST = 4096;

/** A file's text that is really one: made since the directory was emptied, no link, short. */
const shortText = (path: string): string | undefined => {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const about = fstatSync(fd);
    if (!about.isFile() || about.size > LARGEST) return undefined;
    const bytes = Buffer.alloc(LARGEST);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, LARGEST, 0)).trim();
  } finally {
    closeSync(fd);
  }
};

const NUMBER = /^-?(0|[1-9]\d{0,8})(\.\d{1,17})?(e-?\d{1,2})?$/;

/** The number of reward.json: under `reward`, or the only one there is. */
const fromJson = (text: string): number | undefined => {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'number') return value;
    if (typeof value !== 'object' || value === null) return undefined;
    const all = value as Record<string, unknown>;
    const found = Object.hasOwn(all, 'reward')
      ? all['reward']
      : Object.values(all).length === 1
        ? Object.values(all)[0]
        : undefined;
    return typeof found === 'number' ? found : undefined;
  } catch {
    return undefined;
  }
};

/** What /logs/verifier says. */
export const rewardIn = (logs: string): { reward: number } | { error: string } => {
  const text = shortText(join(logs, 'reward.txt'));
  const json = text === undefined ? shortText(join(logs, 'reward.json')) : undefined;
  if (text === undefined && json === undefined) return { error: 'the verifier wrote no reward' };
  const reward = text === undefined ? fromJson(json!) : NUMBER.test(text) ? Number(text) : undefined;
  return reward !== undefined && Number.isFinite(reward)
    ? { reward }
    : { error: `the verifier's reward is no number: '${(text ?? json!).slice(0, 80)}'` };
};

/** An empty directory at a path, whatever stands there now: a directory (in pods it is a volume) is emptied, anything else removed; links are never followed. */
const freshDirectory = (path: string): void => {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return clear(path);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
};

/** Whether the tests are still there as they were; what they made beside themselves is theirs. */
const isStill = (directory: string, tests: readonly TreeFile[]): boolean => {
  try {
    const now = new Map(treeOf(directory).map((one) => [one.path, one.sha256]));
    return tests.every((one) => now.get(one.path) === one.sha256);
  } catch {
    return false;
  }
};

const failed = (
  error: string,
  fault: NonNullable<Report['fault']>,
  more: Partial<Verdict> = {},
): Verdict => ({
  reward: null,
  verifierExit: null,
  verifierWallMs: null,
  ...more,
  error,
  fault,
});

/** `given` is where the gate left the tests. */
export const verify = async (given: string, place: VerifierPlace, how: Verifying): Promise<Verdict> => {
  const script = join(place.tests, 'test.sh');
  let tests: TreeFile[];
  try {
    freshDirectory(place.tests);
    cpSync(given, place.tests, { recursive: true, dereference: false });
    tests = treeOf(place.tests);
    freshDirectory(place.logs);
    chmodSync(script, 0o755);
  } catch (error) {
    return failed(`the tests can't be put in their place: ${(error as Error).message}`, 'agent');
  }
  if (listDigest(tests) !== how.testsSha256)
    return failed('the tests that arrived differ from tasks.lock', 'infrastructure');
  const ran = await runCommand({
    command: [...how.before, '/bin/sh', '-c', 'exec "$0"', script],
    env: how.env,
    cwd: place.workdir,
    limit_s: how.limit_s,
    processes: how.processes,
    out: () => undefined,
  });
  // What the tests started might write the reward once more.
  const left = await endOthers();
  const measured = { verifierExit: ran.exit, verifierWallMs: ran.wallMs };
  if (ran.why === 'time')
    return failed(`the verifier reached its time limit of ${how.limit_s} s`, 'verifier', measured);
  if (ran.why === 'processes')
    return failed(`the tests started more than ${how.processes} processes`, 'verifier', measured);
  if (ran.why !== 'itself') return failed(`the tests can't be started: ${ran.said}`, 'verifier', measured);
  if (left.length > 0) return failed("what the tests started can't be ended", 'verifier', measured);
  if (!isStill(place.tests, tests)) return failed('the tests were changed while they ran', 'agent', measured);
  const found = rewardIn(place.logs);
  if ('reward' in found) return { reward: found.reward, ...measured };
  const said = ran.said === '' ? '' : `: ${ran.said.slice(-300)}`;
  return failed(`${found.error} (it ended with ${ran.exit})${said}`, 'verifier', measured);
};
