/**
 * What trial and gate say to each other: files in two directories. The trial's container writes into `ask` and mounts
 * `answer` read-only; the gate's the other way round. Whatever lies in `ask` may be the agent's: it is read without
 * following links, without waiting, up to a size, and counts only with a code that the agent can't make.
 *
 * The code: before the agent starts the gate leaves a key in `answer`, the trial takes it, the gate removes it, and only
 * then says `begin`. The key lives in the memory of two processes from then on.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  lutimesSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** In `ask`: the trial's words. */
export const TOOK_KEY = 'took-key';
export const REQUEST = 'request.json';
export const RESULT = 'result.json';
export const ALIVE = 'alive';
/** In `answer`: the gate's. */
export const KEY = 'key';
export const BEGIN = 'begin';
export const ANSWER = 'answer.json';
export const REFUSED = 'refused';
export const TESTS = 'tests';

/** No message is longer, bytes. */
const LARGEST = 64 << 10;
const ALIVE_MS = 2000;

/** A message as it lies in a file: its text, and the code over kind and text. */
const codeOf = (key: Buffer, kind: string, text: string): string =>
  createHmac('sha256', key).update(`${kind}\n${text}`).digest('hex');

export const sealed = (key: Buffer, kind: string, value: unknown): string => {
  const text = JSON.stringify(value);
  return JSON.stringify({ text, code: codeOf(key, kind, text) });
};

/** The value of a message whose code is right; undefined: somebody else wrote it. */
export const opened = (key: Buffer, kind: string, message: string): unknown => {
  try {
    const { text, code } = JSON.parse(message) as { text?: unknown; code?: unknown };
    if (typeof text !== 'string' || typeof code !== 'string') return undefined;
    const [given, wanted] = [Buffer.from(code), Buffer.from(codeOf(key, kind, text))];
    return given.length === wanted.length && timingSafeEqual(given, wanted) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
};

export type Found = { is: 'nothing' } | { is: 'text'; text: string } | { is: 'planted'; what: string };

const kindOf = (about: { isSymbolicLink(): boolean; isDirectory(): boolean; isFIFO(): boolean }): string =>
  about.isSymbolicLink()
    ? 'a link'
    : about.isDirectory()
      ? 'a directory'
      : about.isFIFO()
        ? 'a pipe'
        : 'a device';

/** Reads a file that anybody may have put there. Anything but a plain, short file of one name is told, never opened. */
export const readForeign = (path: string): Found => {
  const about = lstatSync(path, { throwIfNoEntry: false });
  if (!about) return { is: 'nothing' };
  if (!about.isFile()) return { is: 'planted', what: `'${path}' is ${kindOf(about)}` };
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT'
      ? { is: 'nothing' }
      : { is: 'planted', what: `'${path}' can't be read: ${code}` };
  }
  try {
    const held = fstatSync(fd);
    if (!held.isFile() || held.nlink > 1) return { is: 'planted', what: `'${path}' is no file of one name` };
    if (held.size > LARGEST) return { is: 'planted', what: `'${path}' is ${held.size} bytes long` };
    const bytes = Buffer.alloc(LARGEST);
    return { is: 'text', text: bytes.toString('utf8', 0, readSync(fd, bytes, 0, LARGEST, 0)) };
  } finally {
    closeSync(fd);
  }
};

/** Writes a file so that a reader sees all of it or nothing; what stands in its place is removed, whatever it is. */
export const put = (directory: string, name: string, text: string): void => {
  const fresh = join(directory, `.${name}.new`);
  for (const one of [fresh, join(directory, name)]) rmSync(one, { recursive: true, force: true });
  const fd = openSync(
    fresh,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o644,
  );
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, join(directory, name));
};

/** Lets their owner remove what is in directories; links are passed over. */
const open = (directory: string): void => {
  chmodSync(directory, 0o700);
  for (const one of readdirSync(directory, { withFileTypes: true }))
    if (one.isDirectory()) open(join(directory, one.name));
};

/** Removes everything in a directory; nothing is followed. */
export const clear = (directory: string): void => {
  for (const one of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, one.name);
    if (one.isDirectory()) open(path);
    rmSync(path, { recursive: true, force: true });
  }
};

/** A file that is touched again and again. Whatever the agent did to the directory, it is there again. */
export const keepAlive = (ask: string): NodeJS.Timeout => {
  const touch = (): void => {
    const now = new Date();
    try {
      lutimesSync(join(ask, ALIVE), now, now);
    } catch {
      try {
        put(ask, ALIVE, '');
      } catch {
        try {
          // The agent filled it; nothing in it is of use to anybody else.
          clear(ask);
          put(ask, ALIVE, '');
        } catch {
          // The gate will take it for dead.
        }
      }
    }
  };
  touch();
  return setInterval(touch, ALIVE_MS);
};

/** Signs of life of whoever touches a file; they may be forged: then its end is only seen later. */
export class Signs {
  readonly #path: string;
  #sign = '';
  #since = performance.now();

  constructor(path: string) {
    this.#path = path;
  }

  /** s since the last one. */
  silent_s(): number {
    const about = lstatSync(this.#path, { throwIfNoEntry: false });
    const sign = about ? `${about.ino} ${about.mtimeMs}` : '';
    if (sign !== this.#sign) {
      this.#sign = sign;
      this.#since = performance.now();
    }
    return (performance.now() - this.#since) / 1000;
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
