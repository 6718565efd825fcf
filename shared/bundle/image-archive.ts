/** What an image's archive says of the bundle in it, as `bundle image` writes it: read without unpacking anything. */
import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
// @ts-expect-error the library's decoder of one header has no types of its own
import * as headers from 'tar-stream/headers.js';
import { cause, Failure, usage } from '../failure.ts';
import { listedIn, type Contents } from './contents.ts';
import { versionsIn } from './versions.ts';

const { decode } = headers as {
  decode(block: Buffer): { name: string; size: number; type: string | null } | null;
};

export interface ImageArchive {
  /** Name by digest, as a Job takes it. */
  reference: string;
  /** What the bundle in it holds: paths, versions, commit, architecture. */
  contents: Contents;
}

/** Where a member's content stands. */
interface Place {
  at: number;
  size: number;
}

const BLOCK = 512;
const LARGEST_JSON = 4 << 20;
const MOST_MEMBERS = 10_000;
const UNDER = 'opt/k8sbench/';
/** The bundle's own files: the layer begins with them. */
const OWN = new Set(['ARTIFACTS.sha256', 'COMMIT', 'VERSIONS'].map((name) => UNDER + name));
const LARGEST_LIST = 64 << 20;

const bytesAt = (fd: number, { at, size }: Place): Buffer => {
  const into = Buffer.alloc(size);
  if (readSync(fd, into, 0, size, at) !== size) throw new Error('it is cut');
  return into;
};

/** The members of an archive, each where it stands; contents are passed over. */
const membersOf = (fd: number): Map<string, Place> => {
  const { size: length } = fstatSync(fd);
  const members = new Map<string, Place>();
  for (let at = 0; at + BLOCK <= length && members.size < MOST_MEMBERS;) {
    const header = decode(bytesAt(fd, { at, size: BLOCK }));
    if (!header) break;
    if (!Number.isSafeInteger(header.size) || header.size < 0) throw new Error('a member has no length');
    members.set(header.name, { at: at + BLOCK, size: header.size });
    at += BLOCK + Math.ceil(header.size / BLOCK) * BLOCK;
  }
  return members;
};

const jsonAt = (fd: number, place: Place | undefined, name: string): any => {
  if (!place || place.size > LARGEST_JSON) throw new Error(`it has no ${name}`);
  return JSON.parse(bytesAt(fd, place).toString('utf8'));
};

/** The beginning of the layer that holds the bundle: its own files. */
const ownFiles = async (path: string, { at, size }: Place): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  const source = createReadStream(path, { start: at, end: at + size - 1 });
  const [unzip, reader] = [createGunzip(), extract()];
  source.on('error', (error) => unzip.destroy(error));
  unzip.on('error', (error) => reader.destroy(error));
  source.pipe(unzip).pipe(reader);
  try {
    for await (const entry of reader) {
      const { name, type, size: length } = entry.header;
      if (type === 'file' && !OWN.has(name)) break;
      if (type !== 'file') {
        entry.resume();
        continue;
      }
      if ((length ?? 0) > LARGEST_LIST) throw new Error(`'${name}' is too long`);
      const parts: Uint8Array[] = [];
      for await (const part of entry as AsyncIterable<Uint8Array>) parts.push(part);
      found.set(name.slice(UNDER.length), Buffer.concat(parts).toString('utf8'));
    }
  } finally {
    source.destroy();
    unzip.destroy();
  }
  return found;
};

/** Reads an archive; one that holds no bundle is refused. */
export const readImageArchive = async (path: string, shown: string): Promise<ImageArchive> => {
  const refuse = (why: string): Failure =>
    usage(`image archive '${shown}': ${why}; 'k8sbench bundle image' makes one`);
  const fd = openSync(path, 'r');
  try {
    const members = membersOf(fd);
    const [named] = jsonAt(fd, members.get('index.json'), 'index.json').manifests ?? [];
    const name = named?.annotations?.['org.opencontainers.image.ref.name'];
    const arch = named?.platform?.architecture;
    const blob = (digest: unknown): Place | undefined =>
      members.get(`blobs/sha256/${String(digest).replace('sha256:', '')}`);
    if (!/^sha256:[0-9a-f]{64}$/.test(String(named?.digest)) || typeof name !== 'string')
      throw new Error('it names no image');
    const { layers = [] } = jsonAt(fd, blob(named.digest), `manifest ${named.digest}`);
    const layer = blob(layers.at(-1)?.digest);
    if (!layer) throw new Error('it has no layer');
    const own = await ownFiles(path, layer);
    if (own.size < OWN.size || (arch !== 'amd64' && arch !== 'arm64')) throw new Error('it holds no bundle');
    const problems: string[] = [];
    const listed = listedIn(own.get('ARTIFACTS.sha256')!, 'ARTIFACTS.sha256', problems);
    if (problems.length > 0) throw new Error(problems.join('; '));
    const commit = own.get('COMMIT')!.trim();
    return {
      reference: `${name.replace(/:[^:/]*$/, '')}@${named.digest}`,
      contents: {
        directory: shown,
        files: [...listed.keys()].map((file) => ({ path: file, size: 0, executable: false })),
        links: [],
        versions: versionsIn(own.get('VERSIONS')!),
        listed,
        unlisted: [],
        problems: [],
        arch,
        ...(commit === '' ? {} : { commit }),
      },
    };
  } catch (error) {
    throw error instanceof Failure ? error : refuse(cause(error));
  } finally {
    closeSync(fd);
  }
};
