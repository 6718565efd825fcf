/** A real registry on loopback (Debian's docker-registry) for what only a pull can meet; and one before it that is busy, which a real one can't be made to be. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { busyboxRoot } from './image.ts';
import { freePort } from './ports.ts';
import { start, until } from './processes.ts';
import { OCI, pushImage, pushManifest } from './push-image.ts';
import type { Bed } from './session-runs.ts';
import { ownDirectory } from './the-cluster.ts';

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

/** An image that the registry has, under a digest that it does not have. */
export const unknownDigest = async (): Promise<string> => {
  const { reference } = await pushImage(await registry(), 'k8sbench-test/pushed', busyboxRoot(ownDirectory!));
  return reference.replace(/[0-9a-f]{64}$/, '0'.repeat(64));
};

/** An index that names an image for an architecture which no node has. */
export const pushForeignImage = async (): Promise<string> => {
  const name = 'k8sbench-test/foreign-image';
  const { reference, size } = await pushImage(await registry(), name, busyboxRoot(ownDirectory!));
  const one = {
    mediaType: `${OCI}.manifest.v1+json`,
    digest: reference.split('@')[1]!,
    size,
    platform: { os: 'linux', architecture: 's390x' },
  };
  const index = JSON.stringify({ schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests: [one] });
  return pushManifest(await registry(), name, index, `${OCI}.index.v1+json`);
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
  return (await pushImage(await registry(), 'k8sbench-test/foreign-program', root)).reference;
};

/** An image with a shell in a registry that answers 429 to everything until it is told to serve. */
export const busyRegistry = async (): Promise<{ image: string; serve(): void }> => {
  let busy = true;
  const address = await registry();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url, method, headers }) =>
      busy
        ? Response.json({ errors: [{ code: 'TOOMANYREQUESTS' }] }, { status: 429 })
        : fetch(`http://${address}${new URL(url).pathname}`, { method, headers }),
  });
  server.unref();
  const { reference } = await pushImage(address, 'k8sbench-test/busy', busyboxRoot(ownDirectory!));
  return { image: reference.replace(address, `localhost:${server.port}`), serve: () => void (busy = false) };
};
