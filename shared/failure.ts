import { EXIT, type Exit } from './exit.ts';

/**
 * What a user can act on: one or more problems, and the exit status that goes with them. Each problem says what failed,
 * on what, then what to do; lower case, no full stop, the thing in single quotes. Printed without a stack.
 */
export class Failure extends Error {
  readonly exit: Exit;
  readonly problems: readonly string[];

  constructor(exit: Exit, problems: string | readonly string[]) {
    const all = typeof problems === 'string' ? [problems] : problems;
    super(all.join('\n'));
    this.name = 'Failure';
    this.exit = exit;
    this.problems = all;
  }
}

/** Wrong command line or configuration. */
export const usage = (problems: string | readonly string[]): Failure => new Failure(EXIT.usage, problems);

/** Anything else that a user can act on. */
export const failed = (problems: string | readonly string[]): Failure => new Failure(EXIT.failed, problems);

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is not a directory',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EFBIG: 'the file is too large',
  EIO: 'input/output error',
};

/** A system error in words: the cause without its stack or its syscall. */
export const cause = (error: unknown): string => {
  const code = (error as { code?: unknown })?.code;
  if (typeof code === 'string' && CAUSES[code]) return CAUSES[code];
  return error instanceof Error ? error.message : String(error);
};

/** Errors that only a mistake of ours can cause. */
const OURS = new Set(['EBADF', 'EFAULT', 'EINVAL']);

/** Whether an error comes from the operating system: something a user can act on, never a bug of ours. */
export const isSystemError = (error: unknown): boolean => {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return (
    typeof code === 'string' &&
    (code in CAUSES || (/^E[A-Z0-9]+$/.test(code) && typeof syscall === 'string' && !OURS.has(code)))
  );
};
