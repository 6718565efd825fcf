/** Two directories change places in one step: renameat2(2) with RENAME_EXCHANGE. */
import { FFIType } from 'bun:ffi';
import { fromLibc } from '../../shared/libc.ts';

/** Paths are from the current directory. */
const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;

const { i32, u32, ptr } = FFIType;
const libc = fromLibc({ renameat2: { args: [i32, ptr, i32, ptr, u32], returns: i32 } });

const bytesOf = (path: string): Buffer => Buffer.from(`${path}\0`);

/** False where the file system or the C library can't, or one of them is not there. */
export const exchange = (one: string, other: string): boolean =>
  libc?.renameat2(AT_FDCWD, bytesOf(one), AT_FDCWD, bytesOf(other), RENAME_EXCHANGE) === 0;
