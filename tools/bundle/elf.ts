/** What an ELF file says of the machine it needs (ELF-64 object file format, and the gABI). */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Arch } from '../../schemas/recipe.ts';

export interface Elf {
  bits: 32 | 64;
  bigEndian: boolean;
  /** e_machine. */
  machine: number;
  arch?: Arch;
  /** A program: of type EXEC, or one that names an interpreter or has an entry as a static one does. */
  program: boolean;
  /** The loader that a dynamic program asks for. */
  interpreter?: string;
  /** What is wrong with the file itself. */
  broken?: string;
}

const ARCHES: Readonly<Record<number, Arch>> = { 62: 'amd64', 183: 'arm64' };
const [PT_INTERP, ET_EXEC, ET_DYN] = [3, 2, 3];
/** Longest path of a loader that is taken for one. */
const LONGEST = 4096;
const HEADER = 64;
const PROGRAM_HEADER = 56;

/** A file's head when it begins as ELF does, else undefined. */
export const readElf = (path: string): Elf | undefined => {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(fd);
    const bytes = (at: number, length: number): Buffer | undefined => {
      if (at + length > size) return undefined;
      const into = Buffer.alloc(length);
      return readSync(fd, into, 0, length, at) === length ? into : undefined;
    };
    if (bytes(0, 4)?.readUInt32BE(0) !== 0x7f454c46) return undefined;
    const head = bytes(0, HEADER);
    if (!head)
      return { bits: 64, bigEndian: false, machine: 0, program: false, broken: 'it ends within its header' };
    return elfOf(head, bytes);
  } finally {
    closeSync(fd);
  }
};

const elfOf = (head: Buffer, bytes: (at: number, length: number) => Buffer | undefined): Elf => {
  const bits = head[4] === 1 ? 32 : 64;
  const bigEndian = head[5] === 2;
  const machine = bigEndian ? head.readUInt16BE(18) : head.readUInt16LE(18);
  const arch = bits === 64 && !bigEndian ? ARCHES[machine] : undefined;
  const about: Elf = { bits, bigEndian, machine, program: false, ...(arch ? { arch } : {}) };
  const type = bigEndian ? head.readUInt16BE(16) : head.readUInt16LE(16);
  about.program = type === ET_EXEC;
  if (!arch) return about;
  const [offset, each, count] = [
    Number(head.readBigUInt64LE(32)),
    head.readUInt16LE(54),
    head.readUInt16LE(56),
  ];
  if (count > 0 && each < PROGRAM_HEADER) return { ...about, broken: 'its program headers are too short' };
  for (let at = 0; at < count; at++) {
    const segment = bytes(offset + at * each, PROGRAM_HEADER);
    if (!segment) return { ...about, broken: 'it ends within its program headers' };
    if (segment.readUInt32LE(0) !== PT_INTERP) continue;
    const length = Number(segment.readBigUInt64LE(32));
    const text = length <= LONGEST ? bytes(Number(segment.readBigUInt64LE(8)), length) : undefined;
    if (!text) return { ...about, broken: 'the name of its loader lies outside of it' };
    about.interpreter = text.toString('latin1').replace(/\0[\s\S]*$/, '');
  }
  // A static program that can be loaded anywhere (static-pie) is of a library's type, without an interpreter but with an entry.
  if (type === ET_DYN) about.program = about.interpreter !== undefined || head.readBigUInt64LE(24) !== 0n;
  return about;
};

/** The C library that a loader belongs to; undefined: one that no base image is known to have. */
export const libcOf = (interpreter: string): 'glibc' | 'musl' | undefined =>
  /^\/lib(64)?\/ld-linux-(x86-64\.so\.2|aarch64\.so\.1)$/.test(interpreter)
    ? 'glibc'
    : /^\/lib\/ld-musl-(x86_64|aarch64)\.so\.1$/.test(interpreter)
      ? 'musl'
      : undefined;
