import { execFileSync } from 'node:child_process';
import { which } from './artifacts.ts';
import { isDirectory } from '../../shared/file-kinds.ts';
import { allowedListOf } from '../../shared/cpu-list.ts';
import { MARKER } from './leftovers.ts';
import type { Place } from './place.ts';
import { SessionError } from './session-error.ts';

/** Longest that a small program may take, ms. */
const LONGEST_MS = 30_000;
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What the session itself is told through its environment; no measured process sees it. */
const OWN = new Set(
  [
    'PLAN',
    'ROOT',
    'DATA',
    'DELIVERY',
    'IMAGE_REF',
    'BUNDLE_SHA256',
    'BUNDLE_ARCH',
    'COMMIT',
    'NOW',
    'SPOOL',
    'ACKNOWLEDGED',
    'SUBMITTED_AT',
  ].map((name) => `K8SBENCH_${name}`),
);

/** The environment of every measured process, but for GOMAXPROCS: the session's, a marker, the artifacts' bin/ first on the PATH. */
export const stepEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
  place: Pick<Place, 'root'>,
  marker: string,
): Record<string, string> => {
  const kept = Object.entries(env).filter(
    (one): one is [string, string] => one[1] !== undefined && !OWN.has(one[0]),
  );
  const bin = `${place.root}/bin`;
  const hasBin = place.root !== '' && isDirectory(bin);
  const path = env['PATH'] || DEFAULT_PATH;
  return {
    ...Object.fromEntries(kept),
    PATH: hasBin ? `${bin}:${path}` : path,
    [MARKER]: marker,
  };
};

const output = (program: string, args: readonly string[], env: Readonly<Record<string, string>>): string =>
  execFileSync(program, args, {
    env,
    encoding: 'utf8',
    timeout: LONGEST_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

/** `node --version` as measured processes would get it; empty without a node. */
export const nodeVersion = (env: Readonly<Record<string, string>>, cwd: string): string => {
  const node = which('node', env['PATH']!, cwd);
  if (node === undefined) return '';
  try {
    return output(node, ['--version'], env).trim();
  } catch {
    return '';
  }
};

/** Artifacts were built and checked on one release of Node: in a pod another one is refused (spec §5). */
export const refuseOtherRuntime = (
  place: Pick<Place, 'delivery'>,
  wanted: string | undefined,
  found: string,
): void => {
  if (place.delivery !== 'local' && wanted !== undefined && wanted !== found)
    throw new SessionError(
      'runtime',
      `the artifacts need node '${wanted}' (VERSIONS), and this place has ${found === '' ? 'none' : `'${found}'`}; ` +
        'run them on the base image they were built for',
    );
};

/** Where `taskset` is; needed for every pin. */
export const tasksetPath = (env: Readonly<Record<string, string>>, cwd: string): string => {
  const found = which('taskset', env['PATH']!, cwd);
  if (found === undefined)
    throw new SessionError(
      'pin',
      "can't pin: there is no 'taskset' on the PATH; install util-linux, or plan with --pin none",
    );
  return found;
};

/** Starts a probe process as measured ones are started and reads its affinity back: it must be what was asked for. */
export const probeAffinity = (taskset: string, cpus: string, env: Readonly<Record<string, string>>): void => {
  let found: string | undefined;
  try {
    found = allowedListOf(output(taskset, ['-c', cpus, 'cat', '/proc/self/status'], env));
  } catch {
    found = undefined;
  }
  if (found !== cpus)
    throw new SessionError(
      'pin',
      `can't pin to '${cpus}': a probe process ${found === undefined ? 'could not be started there' : `may run on '${found}'`}; ` +
        'choose other cores with --pin',
    );
};
