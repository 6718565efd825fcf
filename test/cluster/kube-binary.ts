/** The Kubernetes programs as one binary: named by the environment, else built from the Go modules, once. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const cache = resolve(import.meta.dir, '../../.cache/kube');

/** Runs a program to its end; what it said is in the error when it fails. */
export const run = (
  words: readonly string[],
  options: {
    cwd?: string;
    env?: Record<string, string>;
    input?: string | Uint8Array;
    allowFailure?: boolean;
  } = {},
): string => {
  const { status, stdout, stderr, error } = spawnSync(words[0]!, words.slice(1), {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...(options.cwd ? { cwd: options.cwd } : {}),
    ...(options.input === undefined ? {} : { input: options.input }),
    env: { ...process.env, ...options.env },
  });
  if (error) throw new Error(`can't start '${words[0]}': ${error.message}; is it installed?`);
  if (status !== 0 && options.allowFailure !== true)
    throw new Error(`'${words.join(' ')}' ended with ${status}:\n${stderr}${stdout}`);
  return stdout;
};

/** A cached program, named `kube` as one that goes by its own name wants it; made under another name, so that one that is there is whole. */
const once = (version: string, make: (temporary: string) => void): string => {
  const path = join(cache, version, 'kube');
  if (existsSync(path)) return path;
  mkdirSync(join(cache, version), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  make(temporary);
  chmodSync(temporary, 0o755);
  renameSync(temporary, path);
  return path;
};

const build = (temporary: string): void => {
  console.error('building Kubernetes from its Go modules: some minutes, once');
  const version = '-X k8s.io/component-base/version';
  run(
    [
      'go',
      'build',
      '-trimpath',
      '-o',
      temporary,
      '-ldflags',
      `-s -w ${version}.gitVersion=v1.34.4 ${version}.gitMajor=1 ${version}.gitMinor=34`,
      '.',
    ],
    { cwd: join(import.meta.dir, 'kube'), env: { CGO_ENABLED: '0' } },
  );
};

/**
 * `K8SBENCH_TEST_KUBE` names the binary, the same compressed (.xz), or a directory that holds `kube` or `kube.xz`: a
 * program called `kube` that starts etcd, kube-apiserver, … by its first word. Without it one is built, which needs Go.
 */
export const kubeBinary = (): string => {
  const named = process.env['K8SBENCH_TEST_KUBE'];
  if (!named) return once('1.34.4', build);
  const candidates = statSync(named).isDirectory() ? [join(named, 'kube'), join(named, 'kube.xz')] : [named];
  const found = candidates.find((path) => existsSync(path));
  if (!found) throw new Error(`K8SBENCH_TEST_KUBE: '${named}' holds neither 'kube' nor 'kube.xz'`);
  if (!found.endsWith('.xz')) return resolve(found);
  const { size, mtimeMs } = statSync(found);
  return once(`${size}-${Math.floor(mtimeMs)}`, (temporary) =>
    run(['sh', '-c', 'xz -dc "$1" > "$2"', 'sh', found, temporary]),
  );
};

/** kubectl of that binary; on somebody's cluster the PATH's, where there is one. */
export const kubectlProgram = (): string[] => {
  const theirs = process.env['K8SBENCH_TEST_CLUSTER'] === undefined ? Bun.which('kubectl') : null;
  return theirs === null ? [kubeBinary(), 'kubectl'] : [theirs];
};
