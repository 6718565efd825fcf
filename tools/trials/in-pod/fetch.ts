/**
 * Fetches a model's files onto the claim, each checked by size and SHA-256; those that match already stay. The marker is written last
 * and holds the pin's digest: an engine starts only beside it.
 */
import { createHash, type Hash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { download } from './download.ts';
import { put, sleep } from './exchange.ts';

export interface FetchSpec {
  id: string;
  /** `<hub>/<repository>/resolve/<revision>/<path>`. */
  hub: string;
  repository: string;
  revision: string;
  /** The pin's digest. */
  pin: string;
  files: Record<string, { size: number; sha256: string }>;
  /** Before it is tried again, ms; doubled each time. */
  pause_ms?: number;
}

export const FILES = 'files';
export const MARKER = 'VERIFIED';
const TRIES = 5;
const PAUSE_MS = 1000;
const SAY_MS = 10_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** The pin that a directory's files were last checked for. */
export const markedPin = (place: string): string | undefined => {
  try {
    const { pin } = JSON.parse(readFileSync(join(place, MARKER), 'utf8')) as { pin?: unknown };
    return typeof pin === 'string' ? pin : undefined;
  } catch {
    return undefined;
  }
};

/** Adds a file's bytes to a hash. */
const hashFile = async (path: string, hash: Hash): Promise<void> => {
  for await (const part of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(part as Buffer);
};

const isIt = async (path: string, size: number, sha256: string): Promise<boolean> => {
  if (!existsSync(path) || !statSync(path).isFile() || statSync(path).size !== size) return false;
  const hash = createHash('sha256');
  await hashFile(path, hash);
  return hash.digest('hex') === sha256;
};

const reason = (error: unknown): string => {
  const { code, cause, message } = error as NodeJS.ErrnoException & { cause?: { message?: string } };
  return code === 'ENOSPC' ? 'the claim is full' : (cause?.message ?? message);
};

/** A server that answers, and not with the file. */
class Answer extends Error {
  /** Asked again it would say the same. */
  readonly final: boolean;

  constructor(url: string, status: number) {
    super(`'${url}' answered ${status}`);
    this.final = status >= 400 && status < 500 && status !== 408 && status !== 429;
  }
}

/** Why a fetch ends; `hopeless`: another pod would fail as well. */
export class FetchError extends Error {
  readonly hopeless: boolean;

  constructor(message: string, hopeless: boolean, cause: unknown) {
    super(message, { cause });
    this.hopeless = hopeless;
  }
}

/** One attempt; what came before is gone on with. */
const receive = async (url: string, part: string, size: number, sha256: string): Promise<void> => {
  let hash = createHash('sha256');
  let got = existsSync(part) ? statSync(part).size : 0;
  if (got > 0 && got <= size) await hashFile(part, hash);
  if (got === size && size > 0) {
    if (hash.digest('hex') === sha256) return;
    hash = createHash('sha256');
  }
  if (got >= size) {
    rmSync(part, { force: true });
    got = 0;
  }
  const answer = await download(url, got > 0 ? { range: `bytes=${got}-` } : {});
  const status = answer.statusCode ?? 0;
  if (status !== 200 && status !== 206) {
    answer.resume();
    throw new Answer(url, status);
  }
  if (got > 0 && status !== 206) {
    got = 0;
    hash = createHash('sha256');
  }
  let said = Date.now();
  const count = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const bytes of source) {
      got += bytes.length;
      if (got > size) throw new Error(`it is longer than the ${size} bytes that are pinned`);
      hash.update(bytes);
      if (Date.now() - said > SAY_MS) {
        said = Date.now();
        say(`  ${((100 * got) / size).toFixed(0)} % of ${size} bytes`);
      }
      yield bytes;
    }
  };
  await pipeline(answer, count, createWriteStream(part, { flags: status === 206 ? 'a' : 'w' }));
  if (got < size) throw new Error(`it ended after ${got} of ${size} bytes`);
  const found = hash.digest('hex');
  if (found === sha256) return;
  rmSync(part);
  throw new Error(`it has SHA-256 ${found}, pinned is ${sha256}`);
};

const fetchFile = async (spec: FetchSpec, path: string, to: string): Promise<void> => {
  const { size, sha256 } = spec.files[path]!;
  const url = `${spec.hub.replace(/\/+$/, '')}/${spec.repository}/resolve/${spec.revision}/${path.split('/').map(encodeURIComponent).join('/')}`;
  const part = `${to}.part`;
  mkdirSync(dirname(to), { recursive: true });
  for (let at = 1; ; at++)
    try {
      await receive(url, part, size, sha256);
      renameSync(part, to);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') rmSync(part, { force: true });
      const final =
        (error as NodeJS.ErrnoException).code === 'ENOSPC' || (error instanceof Answer && error.final);
      if (at === TRIES || final) throw new FetchError(`'${path}': ${reason(error)}`, final, error);
      say(`  ${reason(error)}; once more`);
      await sleep((spec.pause_ms ?? PAUSE_MS) * 2 ** at);
    }
};

/** Files that are no part of the pin: an engine might load them. */
const removeOthers = (directory: string, files: FetchSpec['files']): void => {
  for (const one of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(one.parentPath, one.name);
    const name = path.slice(directory.length + 1);
    if (one.isDirectory() || Object.hasOwn(files, name) || Object.hasOwn(files, name.replace(/\.part$/, '')))
      continue;
    say(`${name}: removed, it is not pinned`);
    rmSync(path);
  }
};

export const fetchModel = async (spec: FetchSpec, place: string): Promise<void> => {
  const directory = join(place, FILES);
  rmSync(join(place, MARKER), { force: true });
  mkdirSync(directory, { recursive: true });
  removeOthers(directory, spec.files);
  for (const [path, { size, sha256 }] of Object.entries(spec.files)) {
    const to = join(directory, path);
    if (await isIt(to, size, sha256)) {
      say(`${path}: there already`);
      continue;
    }
    say(`${path}: ${size} bytes`);
    rmSync(to, { recursive: true, force: true });
    await fetchFile(spec, path, to);
  }
  put(place, MARKER, `${JSON.stringify({ pin: spec.pin, files: Object.keys(spec.files).length })}\n`);
  say(`verified for the pin ${spec.pin}`);
};
