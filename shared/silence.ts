/** A time limit for requests: an answer, and each part of it, comes before it is over. How long all of it takes is nobody's business. */

/** Longest silence of a server, ms. */
export const SILENCE_MS = 60_000;

/** One request. `signal` is for `fetch`; it ends when the request is interrupted, or its server silent for too long. */
export class Silence {
  readonly signal: AbortSignal;
  readonly #limit = new AbortController();
  readonly #ms: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(interrupted: AbortSignal, ms = SILENCE_MS) {
    this.#ms = ms;
    this.signal = AbortSignal.any([interrupted, this.#limit.signal]);
    this.listen();
  }

  /** From now on something has to come. */
  listen(): void {
    this.end();
    const words = `nothing came for ${this.#ms / 1000} s`;
    this.#timer = setTimeout(() => this.#limit.abort(new Error(words)), this.#ms);
  }

  /** Nothing more is expected. */
  end(): void {
    clearTimeout(this.#timer);
  }

  /** An answer's bytes as they come; whoever takes them may take as long as they like. */
  async *parts(response: Response): AsyncGenerator<Uint8Array> {
    try {
      this.listen();
      for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
        this.end();
        yield part;
        this.listen();
      }
    } finally {
      this.end();
    }
  }
}
