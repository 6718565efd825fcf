/** A real registry on loopback (Debian's docker-registry) for what only a pull can meet; and a fake one that is always busy, which a real one can't be made to be. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { busyboxRoot, makeImage } from './image.ts';
import { run } from './kube-binary.ts';
import { freePort } from './ports.ts';
import { start, until } from './processes.ts';
import type { Bed } from './session-runs.ts';
import { ownDirectory } from './the-cluster.ts';

const OCI = 'application/vnd.oci.image';
const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

const startRegistry = async (): Promise<string> => {
  const directory = join(ownDirectory!, 'registry');
  mkdirSync(directory, { recursive: true });
  const address = `localhost:${await freePort()}`;
  const config = {
    version: 0.1,
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(directory, 'data') } },
    http: { addr: address.replace('localhost', '127.0.0.1') },
  };
  writeFileSync(join(directory, 'config.yaml'), JSON.stringify(config));
  start(ownDirectory!, 'registry', ['docker-registry', 'serve', join(directory, 'config.yaml')]);
  await until('the registry (is docker-registry installed?)', () =>
    fetch(`http://${address}/v2/`).then(
      (answer) => answer.ok,
      () => false,
    ),
  );
  return address;
};

let started: Promise<string> | undefined;
/** Its address; started with the first question, and stopped by `down` with everything else. */
const registry = (): Promise<string> => (started ??= startRegistry());

const send = async (
  url: string,
  method: string,
  body: Buffer<ArrayBuffer> | string,
  type: string,
): Promise<Response> => {
  const answer = await fetch(url, { method, body, headers: { 'content-type': type } });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return answer;
};

const pushManifest = async (name: string, manifest: string, type: string): Promise<string> => {
  const digest = `sha256:${sha256(manifest)}`;
  await send(`http://${await registry()}/v2/${name}/manifests/${digest}`, 'PUT', manifest, type);
  return `${await registry()}/${name}@${digest}`;
};

/** Pushes an image made of a directory; gives its reference by digest. */
const push = async (name: string, root: string): Promise<string> => {
  const archive = join(ownDirectory!, `${name.replaceAll('/', '-')}.tar`);
  const [, digest] = makeImage(archive, name, root).split('@sha256:') as [string, string];
  const layout = `${archive}.layout`;
  mkdirSync(layout, { recursive: true });
  run(['tar', '-xf', archive, '-C', layout]);
  const blob = (of: string): Buffer<ArrayBuffer> =>
    readFileSync(join(layout, 'blobs/sha256', of)) as Buffer<ArrayBuffer>;
  const manifest = blob(digest).toString();
  const { config, layers } = JSON.parse(manifest) as Record<'config', { digest: string }> & {
    layers: { digest: string }[];
  };
  for (const one of [config, ...layers]) {
    const url = `http://${await registry()}/v2/${name}/blobs/uploads/`;
    const at = new URL((await send(url, 'POST', '', 'text/plain')).headers.get('location')!, url);
    at.searchParams.set('digest', one.digest);
    await send(at.href, 'PUT', blob(one.digest.slice(7)), 'application/octet-stream');
  }
  rmSync(layout, { recursive: true });
  rmSync(archive);
  return pushManifest(name, manifest, `${OCI}.manifest.v1+json`);
};

/** An image that the registry has, under a digest that it does not have. */
export const unknownDigest = async (): Promise<string> => {
  const reference = await push('k8sbench-test/pushed', busyboxRoot(ownDirectory!));
  return reference.replace(/[0-9a-f]{64}$/, '0'.repeat(64));
};

/** An index that names an image for an architecture which no node has. */
export const pushForeignImage = async (): Promise<string> => {
  const name = 'k8sbench-test/foreign-image';
  const reference = await push(name, busyboxRoot(ownDirectory!));
  const digest = reference.split('@')[1]!;
  const answer = await fetch(`http://${await registry()}/v2/${name}/manifests/${digest}`, {
    headers: { accept: `${OCI}.manifest.v1+json` },
  });
  const { length } = new Uint8Array(await answer.arrayBuffer());
  const one = {
    mediaType: `${OCI}.manifest.v1+json`,
    digest,
    size: length,
    platform: { os: 'linux', architecture: 's390x' },
  };
  const index = JSON.stringify({ schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests: [one] });
  return pushManifest(name, index, `${OCI}.index.v1+json`);
};

/** The head of an executable for the other of the two architectures. */
export const foreignExecutable = (): Buffer => {
  const elf = Buffer.alloc(64);
  elf.writeUInt32BE(0x7f454c46, 0);
  elf.writeUInt8(2, 4);
  elf.writeUInt8(1, 5);
  elf.writeUInt16LE(2, 16);
  elf.writeUInt16LE(process.arch === 'x64' ? 183 : 62, 18);
  return elf;
};

/** An image whose /bin/foreign is for another architecture. */
export const foreignProgram = async (bed: Bed): Promise<string> => {
  const root = join(bed.directory, 'foreign-root');
  cpSync(busyboxRoot(ownDirectory!), root, { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(root, 'bin/foreign'), foreignExecutable(), { mode: 0o755 });
  return push('k8sbench-test/foreign-program', root);
};

let busy: number | undefined;
/** The port of a registry that answers 429 to everything. */
export const busyRegistry = (): number => {
  if (busy !== undefined) return busy;
  const answer = (): Response => Response.json({ errors: [{ code: 'TOOMANYREQUESTS' }] }, { status: 429 });
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  server.unref();
  return (busy = server.port!);
};
