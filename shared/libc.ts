/** Functions of the C library that no runtime offers. */
import { dlopen, type FFIFunction } from 'bun:ffi';

/** They; undefined where this machine's C library lacks one of them. */
export const fromLibc = <const F extends Record<string, FFIFunction>>(functions: F) => {
  const musl = `libc.musl-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.so.1`;
  for (const library of ['libc.so.6', musl, 'libc.so'])
    try {
      return dlopen(library, functions).symbols;
    } catch {
      // Another libc; the next name may fit.
    }
  return undefined;
};
