import { EXIT, type Exit } from '../../shared/exit.ts';

/** Causes of a session that did not end with `done`, as `code` of its error line. */
export type Code =
  | 'plan'
  | 'pin'
  | 'clock'
  | 'commit'
  | 'runtime'
  | 'artifacts'
  | 'step'
  /** Targets that did different work. */
  | 'unlike'
  | 'output'
  | 'left-behind'
  | 'step-limit'
  | 'session-limit'
  | 'interrupted'
  | 'reader-gone'
  | 'system'
  | 'bug'
  /** Invalid: the conditions changed while measuring. */
  | 'affinity'
  | 'cpuset'
  | 'governor';

const EXITS: Partial<Record<Code, Exit>> = {
  plan: EXIT.usage,
  interrupted: EXIT.interrupted,
  affinity: EXIT.invalid,
  cpuset: EXIT.invalid,
  governor: EXIT.invalid,
};

/** Ends the session: its message goes into the error line, its code decides the exit status. */
export class SessionError extends Error {
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.name = 'SessionError';
    this.code = code;
  }

  get exit(): Exit {
    return EXITS[this.code] ?? EXIT.failed;
  }

  /** The measurement is void, whatever was measured before. */
  get invalid(): boolean {
    return this.exit === EXIT.invalid;
  }
}
