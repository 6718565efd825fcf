import { createHash } from 'node:crypto';
import { SessionError } from './session-error.ts';

/** Where the log goes. `write` resolves once the text is handed on whole; `closed` says that nobody reads any more. */
export interface Output {
  write(text: string): Promise<void>;
  readonly closed: boolean;
}

/** How long a reader that doesn't read is waited for once the session was asked to stop, ms. */
const PATIENCE_MS = 2000;

type Fields = Readonly<Record<string, unknown>>;

/** A number that JSON can't hold would be written as null and read as nothing: refuse it where it comes in. */
const finiteOnly = (key: string, value: unknown): unknown => {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`the log can't hold '${key}': ${value}`);
  return value;
};

/** Writes the session's lines: each whole, numbered, digested, and `end` as the last (DESIGN §4.6). */
export class LineWriter {
  #output: Output;
  #interrupted: AbortSignal;
  #hash = createHash('sha256');
  #seq = 0;
  #patienceMs: number;
  /** Why nothing can be written any more. */
  #broken: SessionError | undefined;

  /** `interrupted` is aborted when the session must stop; its reason is a SessionError. */
  constructor(output: Output, interrupted: AbortSignal, patienceMs = PATIENCE_MS) {
    this.#output = output;
    this.#interrupted = interrupted;
    this.#patienceMs = patienceMs;
  }

  /**
   * Resolves when handed on. A reader that stands still can't hold a session that was asked to stop: the log then ends in the
   * middle of a line, and nothing may follow.
   */
  async #write(text: string): Promise<void> {
    if (this.#broken) throw this.#broken;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onAbort: (() => void) | undefined;
    const impatience = new Promise<'late'>((resolve) => {
      onAbort = () => (timer = setTimeout(resolve, this.#patienceMs, 'late'));
      if (this.#interrupted.aborted) onAbort();
      else this.#interrupted.addEventListener('abort', onAbort, { once: true });
    });
    const first = await Promise.race([this.#output.write(text), impatience]);
    clearTimeout(timer);
    if (onAbort) this.#interrupted.removeEventListener('abort', onAbort);
    if (first === 'late') this.#broken = this.#interrupted.reason as SessionError;
    else if (this.#output.closed)
      this.#broken = new SessionError(
        'reader-gone',
        'nobody reads the log any more; the measurement was stopped',
      );
    if (this.#broken) throw this.#broken;
  }

  async put(t: string, fields: Fields): Promise<void> {
    await this.putAll([[t, fields]]);
  }

  /** Lines that belong together, in one write. */
  async putAll(lines: readonly (readonly [t: string, fields: Fields])[]): Promise<void> {
    const texts = lines.map(
      ([t, fields], at) => `${JSON.stringify({ t, seq: this.#seq + at, ...fields }, finiteOnly)}\n`,
    );
    const text = texts.join('');
    this.#seq += lines.length;
    this.#hash.update(text);
    await this.#write(text);
  }

  async end(): Promise<void> {
    const seal = { t: 'end', seq: this.#seq, lines: this.#seq, sha256: this.#hash.digest('hex') };
    await this.#write(`${JSON.stringify(seal)}\n`);
  }
}
