/** Files that people name, opened with care: what is no file might keep its reader waiting for ever, or never end. */
import { closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs';
import { cause, failed } from './failure.ts';

/** `pipe`: read once, from beginning to end. `nothing`: the null device, an empty file. */
export type Kind = 'file' | 'pipe' | 'nothing';

export interface InputFile {
  fd: number;
  kind: Kind;
  /** Bytes, of a file. */
  size: number;
}

/** How a pipe is read that is read without waiting in the kernel, ms. */
const LOOK_EVERY_MS = 5;
/** How long a pipe may have no writer; a shell's `<(…)` has one from the start. */
const WRITER_MS = 300;
/** How long a writer may write nothing. */
const SILENCE_MS = 60_000;

/** The null device's number (major 1, minor 3). */
const NULL_DEVICE = 0x103;

const code = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

/** Opens a file or a pipe for reading; a pipe's reads don't block. Anything else is an error that names it. */
export const openInput = (path: string, shown = path): InputFile => {
  const refuse = (why: string): Error => failed(`can't read '${shown}': ${why}`);
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a pipe waits for its writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw refuse(code(error) === 'ENXIO' ? 'it is a socket; name a file' : cause(error));
  }
  const about = fstatSync(fd);
  if (about.isFile()) return { fd, kind: 'file', size: about.size };
  if (about.isFIFO()) return { fd, kind: 'pipe', size: 0 };
  if (about.isCharacterDevice() && about.rdev === NULL_DEVICE) return { fd, kind: 'nothing', size: 0 };
  closeSync(fd);
  throw refuse(about.isDirectory() ? 'it is a directory; name a file' : 'it is a device; name a file');
};

/** Opens a file that is read at any place, more than once; a pipe is refused. */
export const openFile = (path: string, shown = path): number => {
  const { fd, kind } = openInput(path, shown);
  if (kind !== 'pipe') return fd;
  closeSync(fd);
  throw failed(`can't read '${shown}': it is a pipe, and is read more than once; write it to a file`);
};

/** One read of an opened input: how many bytes came, 0 at its end, undefined: not yet. */
const readSome = (fd: number, into: Uint8Array): number | undefined => {
  try {
    return readSync(fd, into, 0, into.length, null);
  } catch (error) {
    if (code(error) === 'EAGAIN') return undefined;
    throw error;
  }
};

/** The same while signals are heard. */
const readSoon = (fd: number, into: Uint8Array): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, null, (error, got) => {
      if (!error) resolve(got);
      else if (code(error) === 'EAGAIN') resolve(undefined);
      else reject(error);
    });
  });

/** Decides, after each read of a pipe, whether to go on, wait or end; refuses one that nobody writes to. */
class Patience {
  readonly #shown: string;
  #since = performance.now();
  #hadWriter = false;

  constructor(shown: string) {
    this.#shown = shown;
  }

  next(got: number | undefined): 'take' | 'wait' | 'end' {
    const waited = performance.now() - this.#since;
    if (got !== undefined && got > 0) {
      this.#since = performance.now();
      this.#hadWriter = true;
      return 'take';
    }
    if (got === undefined) this.#hadWriter = true;
    else if (this.#hadWriter) return 'end';
    if (waited < (this.#hadWriter ? SILENCE_MS : WRITER_MS)) return 'wait';
    throw failed(
      `can't read '${this.#shown}': it is a pipe, and ${this.#hadWriter ? `nothing came out of it for ${SILENCE_MS / 1000} s` : 'nobody writes to it'}`,
    );
  }
}

/** All bytes of an opened input, `limit` at most. */
export const readInput = ({ fd, kind }: InputFile, shown: string, limit: number): Buffer => {
  const patience = kind === 'pipe' ? new Patience(shown) : undefined;
  const parts: Buffer[] = [];
  for (let size = 0; ;) {
    const block = Buffer.allocUnsafe(1 << 16);
    const got = readSome(fd, block);
    const next = patience?.next(got) ?? (got ? 'take' : 'end');
    if (next === 'end') return Buffer.concat(parts);
    if (next === 'wait') {
      Bun.sleepSync(LOOK_EVERY_MS);
      continue;
    }
    size += got!;
    if (size > limit) throw failed(`can't read '${shown}': more than ${limit} bytes`);
    parts.push(block.subarray(0, got));
  }
};

/**
 * The bytes of a file or a pipe, part by part: reading a large log leaves no garbage. A part is good until the next one is
 * asked for; that one is read meanwhile.
 */
export async function* partsOfFile(path: string, size = 1 << 20, shown = path): AsyncGenerator<Uint8Array> {
  const { fd, kind } = openInput(path, shown);
  const patience = kind === 'pipe' ? new Patience(shown) : undefined;
  let [bytes, other] = [Buffer.allocUnsafe(size), Buffer.allocUnsafe(size)];
  let reading = readSoon(fd, bytes);
  try {
    for (;;) {
      const got = await reading;
      const next = patience?.next(got) ?? (got ? 'take' : 'end');
      if (next === 'end') return;
      if (next === 'wait') {
        await Bun.sleep(LOOK_EVERY_MS);
        reading = readSoon(fd, bytes);
        continue;
      }
      reading = readSoon(fd, other);
      // It is waited for after the part was used; until then nobody hears of its failure.
      reading.catch(() => undefined);
      yield bytes.subarray(0, got);
      [bytes, other] = [other, bytes];
    }
  } finally {
    // A file that is still being read must not be closed: its number might become another file's.
    await reading.catch(() => undefined);
    closeSync(fd);
  }
}
