/** Starts the programs that build: in an environment that says the same everywhere, their words kept for when they fail. */
import { spawn } from 'node:child_process';
import { failed, Failure } from '../../shared/failure.ts';
import { EXIT } from '../../shared/exit.ts';
import type { World } from '../../shared/world.ts';

/** What a build may take from the caller's environment: where things are and how to reach them; nothing that says how to build. */
const KEPT =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|XDG_.*|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|CURL_CA_BUNDLE|GIT_SSL_CAINFO|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|GOPROXY|GOSUMDB|GONOSUMDB|GOPRIVATE|GONOPROXY|GOMODCACHE|GOCACHE|GOPATH|GOROOT|BUN_INSTALL|BUN_INSTALL_CACHE_DIR|CARGO_HOME|RUSTUP_HOME|RUSTUP_TOOLCHAIN|npm_config_(userconfig|globalconfig|registry|cache|cafile|https_proxy)|NPM_CONFIG_(USERCONFIG|REGISTRY|CACHE))$/;

/** The environment of a build. 1980 is the first year that every archive can hold. */
export const buildEnv = (
  { env }: World,
  more: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => KEPT.test(name))),
  LC_ALL: 'C',
  TZ: 'UTC',
  SOURCE_DATE_EPOCH: '315532800',
  ...more,
});

/** The last lines of what a program said. */
const LAST = 20;

/** Runs a program to its end; a failure is an error with the end of what it said. ^C ends it. */
export const runBuild = (
  command: readonly string[],
  {
    cwd,
    env,
    interrupted,
  }: { cwd: string; env: Record<string, string | undefined>; interrupted: AbortSignal },
): Promise<void> =>
  new Promise((resolve, reject) => {
    if (interrupted.aborted) return reject(new Failure(EXIT.interrupted, 'interrupted'));
    // Files that a build makes have the same modes under every umask of the caller.
    const child = spawn('sh', ['-c', 'umask 022; exec "$@"', 'sh', ...command], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const keep = (part: Buffer): void => void (said = (said + part.toString()).slice(-(1 << 16)));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const stop = (): void => {
      try {
        // The whole group: compilers start others.
        process.kill(-child.pid!, 'SIGTERM');
      } catch {
        // It ended by itself.
      }
    };
    interrupted.addEventListener('abort', stop, { once: true });
    child.on('error', reject);
    child.on('close', (status, signal) => {
      interrupted.removeEventListener('abort', stop);
      if (interrupted.aborted) return reject(new Failure(EXIT.interrupted, 'interrupted'));
      if (status === 0) return resolve();
      const words = said.trim().split('\n').slice(-LAST).join('\n');
      reject(failed(`'${command.slice(0, 3).join(' ')}' failed (${status ?? signal}):\n${words}`));
    });
  });
