/** Where the files are that come with k8sbench: in a source tree, or inside the one compiled binary. */
import { fileURLToPath } from 'node:url';

/** A file inside the compiled binary. */
export interface Packed {
  /** Path that this very process reads it by; no other process sees it. */
  file: string;
  sha256: string;
}

/** Path below `{root}` → the file. */
export type PackedFiles = Readonly<Record<string, Packed>>;

let packed: PackedFiles | undefined;

/** Told once, by the entry of a compiled binary, before anything else runs (test/install/binary.ts). */
export const carry = (files: PackedFiles): void => void (packed = files);

/** What the compiled binary carries; undefined in a source tree. */
export const carried = (): PackedFiles | undefined => packed;

/** A path of the source tree, from its top level. */
export const inTree = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The command line that starts one of our programs as a process of its own. */
export const programOf = (tool: string): string[] =>
  packed ? [process.execPath, tool] : [process.execPath, inTree(`tools/${tool}/main.ts`)];

/** The words before a script that this Bun is to run: a compiled binary is a whole Bun when its environment says so. */
export const runtimeWords = (): string[] =>
  packed ? ['env', 'BUN_BE_BUN=1', process.execPath] : [process.execPath];
