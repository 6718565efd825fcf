import {
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { failed } from './failure.ts';
import { openFile } from './input-file.ts';
import { isStill, lockFile, tryLockFile } from './locks.ts';
import { openTemporary } from './temporaries.ts';

/** SHA-256 of a text or bytes, in hex. */
export const sha256 = (content: string | Uint8Array): string =>
  new Bun.CryptoHasher('sha256').update(content).digest('hex');

/** SHA-256 of a file's content, streamed. What is no file is an error that names it. */
export const sha256File = async (path: string): Promise<string> => {
  const hash = new Bun.CryptoHasher('sha256');
  const fd = openFile(path);
  for await (const part of createReadStream(path, { fd, highWaterMark: 1 << 20 }))
    hash.update(part as Buffer);
  return hash.digest('hex');
};

const syncDirectory = (path: string): void => {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/** Writes all of a text or bytes to an open file. */
export const writeAll = (fd: number, content: string | Uint8Array): void => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
};

/** Removes a temporary file after a failure and gives the error back, about the file that was meant. */
const abandoned = (error: unknown, temporary: string, path: string): unknown => {
  try {
    unlinkSync(temporary);
  } catch {
    // It may not exist; the first error is the one to report.
  }
  const about = error as NodeJS.ErrnoException | null;
  // An error of a descriptor does not say which file it is about.
  if (about?.path === temporary || (about?.path === undefined && about?.syscall !== undefined))
    about.path = path;
  return error;
};

/**
 * Where a file's content goes. A link stays and what it leads to is replaced; a character device such as /dev/null is
 * written into, because a rename would put a file in its place; what else is no file is refused.
 */
const destinationOf = (path: string): { path: string; device: boolean } => {
  const about = statSync(path, { throwIfNoEntry: false });
  if (!about) return { path, device: false };
  // Only a link leads elsewhere; a file may be replaced by another writer while its path is looked up.
  if (about.isFile())
    return { path: lstatSync(path).isSymbolicLink() ? realpathSync(path) : path, device: false };
  if (about.isCharacterDevice()) return { path, device: true };
  throw failed(
    `can't write '${path}': it is ${about.isDirectory() ? 'a directory' : 'a pipe, a socket or a disk'}, not a file; name a file`,
  );
};

/**
 * Writes a file whole or not at all: temporary name beside it, fsync, rename, fsync of the directory. A reader never sees
 * half of it, whatever kills the writer; a failure leaves nothing behind.
 */
export const writeAtomically = (given: string, content: string | Uint8Array): void => {
  const { path, device } = destinationOf(given);
  if (device) return writeDevice(path, content);
  const { fd, temporary } = openTemporary(path);
  try {
    writeAll(fd, content);
    fsyncSync(fd);
    renameSync(temporary, path);
  } catch (error) {
    throw abandoned(error, temporary, path);
  } finally {
    closeSync(fd);
  }
  syncDirectory(dirname(path));
};

/** Devices are not replaced: the content goes into them as it comes. */
const writeDevice = (path: string, content: string | Uint8Array): void => {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOCTTY);
  try {
    writeAll(fd, content);
  } finally {
    closeSync(fd);
  }
};

/** So much of a large file is sent on its way to the disk at once: at its end little is left to wait for. */
const ON_ITS_WAY = 16 << 20;

/** Appends parts to an open file, one after another; a part must stay as it is until the next one was taken. */
class Appending {
  readonly #file: FileHandle;
  #last = Promise.resolve();
  #onItsWay = Promise.resolve();
  #waiting = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async take(part: string | Uint8Array): Promise<void> {
    await this.#last;
    this.#last = this.#write(typeof part === 'string' ? Buffer.from(part) : part);
    // A failure is told where it is awaited; meanwhile nobody waits for it.
    this.#last.catch(() => undefined);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;)
      at += (await this.#file.write(bytes, at, bytes.length - at)).bytesWritten;
    this.#waiting += bytes.length;
    if (this.#waiting < ON_ITS_WAY) return;
    this.#waiting = Number.NEGATIVE_INFINITY;
    // What goes wrong here goes wrong again at the end, where it is told.
    this.#onItsWay = this.#file.datasync().then(
      () => void (this.#waiting = 0),
      () => undefined,
    );
  }

  /** When nothing is under way any more; rejects when the last part could not be written. */
  async end(): Promise<void> {
    await this.#onItsWay;
    await this.#last;
  }
}

/**
 * Streams parts into a file whole or not at all, as {@link writeAtomically} does for one text. The next part is made while
 * one is written, so a part must stay as it is until the next but one is asked for.
 */
export const streamAtomically = async (
  given: string,
  parts: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
): Promise<void> => {
  const { path, device } = destinationOf(given);
  if (device) {
    for await (const part of parts) writeDevice(path, part);
    return;
  }
  const { fd, temporary } = openTemporary(path);
  try {
    const file = await open(temporary, 'r+');
    const appending = new Appending(file);
    try {
      for await (const part of parts) await appending.take(part);
      await appending.end();
      await file.sync();
    } finally {
      await appending.end().catch(() => undefined);
      await file.close();
    }
    renameSync(temporary, path);
  } catch (error) {
    throw abandoned(error, temporary, path);
  } finally {
    closeSync(fd);
  }
  syncDirectory(dirname(path));
};

/**
 * Makes a file newer than its inputs without changing it: a step skipped as done is still a made make target. A file that
 * can't be touched (a read-only archive of runs) stays as it is.
 */
export const touch = (path: string): void => {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
};

/**
 * Holds an exclusive lock on a file (created when missing) while `use` runs; `fd` is open for reading and appending.
 * Writers in other processes wait. The lock is advisory: every writer of our files takes it.
 */
export const withLock = <T>(path: string, use: (fd: number) => T): T => {
  for (;;) {
    const fd = openSync(path, 'a+', 0o666);
    try {
      if (!lockFile(fd))
        throw failed(`can't lock '${path}': its file system has no locks; keep runs on a local disk`);
      if (isStill(path, fd)) return use(fd);
    } finally {
      closeSync(fd);
    }
  }
};

/**
 * Takes an exclusive lock on a file (created when missing) without waiting: a function that releases it, or undefined while
 * somebody else holds it. For work that takes long; a killed holder releases it too.
 */
export const tryLock = (path: string): (() => void) | undefined => {
  const fd = openSync(path, 'a+', 0o666);
  if (tryLockFile(fd) && isStill(path, fd)) return () => closeSync(fd);
  closeSync(fd);
  return undefined;
};
