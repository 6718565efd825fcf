/** results.jsonl and seeds.jsonl: the log's sample and seed lines without `t` and `seq`; candidates carry `version` (spec §5). */
import type { Sample, Seed } from '../../schemas/log.ts';
import type { Session } from './session.ts';

/** Sample rows on their way into results.jsonl, and all seed rows. */
export class Rows {
  #buffer = Buffer.allocUnsafe(1 << 20);
  #length = 0;
  readonly #seeds: string[] = [];
  /** In a run of several sessions each row names its own. */
  readonly #ofSeveral: boolean;

  constructor(ofSeveral: boolean) {
    this.#ofSeveral = ofSeveral;
  }

  add(line: Sample | Seed, session: Session, block: Buffer, from: number, to: number): void {
    const extra = this.#extraOf(line, session);
    if (line.t === 'seed') this.#seeds.push(rowOf(line, extra));
    else if (!this.#splice(line, extra, block, from, to)) this.#append(Buffer.from(rowOf(line, extra)));
  }

  /** Sample rows since the last call. They must be written before the next row is added. */
  take(): Uint8Array {
    const taken = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  get seeds(): string {
    return this.#seeds.join('');
  }

  #extraOf({ target }: Sample | Seed, { facts, profile }: Session): Record<string, string> {
    const about = profile?.targets.find((one) => one.name === target);
    const version = about?.role === 'candidate' ? about.commit || facts?.commit : undefined;
    return { ...(version ? { version } : {}), ...(this.#ofSeveral ? { run: facts!.run } : {}) };
  }

  /**
   * The row cut out of the line's own bytes: writing numbers anew would take longer than all the rest. Only for lines as
   * our session writes them; says whether it was one.
   */
  #splice(line: Sample, extra: Record<string, string>, block: Buffer, from: number, to: number): boolean {
    const start = `{"t":"sample","seq":${line.seq},`;
    if (block[to - 1] !== 0x7d) return false;
    for (let at = 0; at < start.length; at++) if (block[from + at] !== start.charCodeAt(at)) return false;
    let end = '';
    for (const key in extra) {
      if (key in line) return false;
      end += `,${JSON.stringify(key)}:${JSON.stringify(extra[key])}`;
    }
    end += '}\n';
    this.#reserve(to - from + 4 * end.length);
    const buffer = this.#buffer;
    buffer[this.#length++] = 0x7b;
    this.#length += block.copy(buffer, this.#length, from + start.length, to - 1);
    this.#length += buffer.write(end, this.#length);
    return true;
  }

  #append(row: Uint8Array): void {
    this.#reserve(row.length);
    this.#buffer.set(row, this.#length);
    this.#length += row.length;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + more));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

/** A row from the parsed line. A workload's own field that ours would hide moves to `bench_…`, as in the session. */
export const rowOf = (
  { t: _t, seq: _seq, ...fields }: Sample | Seed,
  extra: Record<string, string>,
): string => {
  const row = Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key in extra ? `bench_${key}` : key, value]),
  );
  return `${JSON.stringify({ ...row, ...extra })}\n`;
};
