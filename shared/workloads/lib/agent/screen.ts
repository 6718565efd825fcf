/** A terminal's screen as its user sees it: what an agent writes is interpreted by a terminal emulator, and asked about. */
import headless from '@xterm/headless';

/** How long a screen must stay the same to count as settled, ms. */
export const QUIET_MS = 400;

interface Waiting {
  fits(text: string, at: number): boolean;
  found(at: number): void;
}

const hex = (value: number): string => value.toString(16).padStart(2, '0').repeat(2);
/** Colours that are told when they are asked for: a dark terminal's. */
const COLOURS: Readonly<Record<number, readonly number[]>> = {
  10: [0xd0, 0xd0, 0xd0],
  11: [0x10, 0x10, 0x10],
};

export class Screen {
  readonly #terminal: InstanceType<typeof headless.Terminal>;
  #waiting = new Set<Waiting>();
  #pending = 0;
  #closed = false;
  text = '';
  /** When the last part arrived that changed what is shown, ms; undefined before the first. */
  changed: number | undefined;
  /** Parts that changed what is shown, and bytes of all. */
  frames = 0;
  bytes = 0;

  /** `answer` takes what the terminal itself says, asked for its state. */
  constructor(columns: number, rows: number, answer: (text: string) => void) {
    this.#terminal = new headless.Terminal({ cols: columns, rows, scrollback: 0, allowProposedApi: true });
    this.#terminal.onData(answer);
    for (const [code, rgb] of Object.entries(COLOURS))
      this.#terminal.parser.registerOscHandler(Number(code), (asked) => {
        if (asked !== '?') return false;
        answer(`\u001b]${code};rgb:${rgb.map(hex).join('/')}\u001b\\`);
        return true;
      });
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows);
  }

  /** What is on the screen now, without the spaces at the ends of its lines. */
  #read(): string {
    const { active } = this.#terminal.buffer;
    return Array.from(
      { length: this.#terminal.rows },
      (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? '',
    ).join('\n');
  }

  /** Takes what was written; `at` is when it arrived, ms. */
  write(part: Uint8Array, at: number): void {
    this.#pending++;
    this.bytes += part.length;
    this.#terminal.write(part, () => {
      this.#pending--;
      const text = this.#read();
      if (text === this.text) return;
      this.text = text;
      this.changed = at;
      this.frames++;
      for (const one of [...this.#waiting])
        if (one.fits(text, at)) {
          this.#waiting.delete(one);
          one.found(at);
        }
    });
  }

  /** When a screen like that was there: the arrival of the part that made it, ms; now, when it is there already. */
  shows(fits: (text: string, at: number) => boolean): Promise<number> {
    if (fits(this.text, this.changed ?? 0)) return Promise.resolve(performance.now());
    return new Promise((found) => this.#waiting.add({ fits, found }));
  }

  /** When the screen last changed before it stayed the same for a while, once it is like that, ms. */
  settled(fits: (text: string) => boolean, quiet = QUIET_MS): Promise<number> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#closed) return;
        const still = performance.now() - (this.changed ?? performance.now());
        if (this.#pending === 0 && this.changed !== undefined && still >= quiet && fits(this.text))
          resolve(this.changed);
        else setTimeout(look, Math.max(5, Math.min(quiet - still, 50)));
      };
      look();
    });
  }

  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    this.#terminal.dispose();
  }
}
