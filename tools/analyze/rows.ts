/** results.jsonl and seeds.jsonl: the log's sample and seed lines without `t` and `seq`; candidates carry `version` (spec §5). */
import type { Facts, Sample, Seed } from '../../schemas/log.ts';
import { withPlainLists } from './long-line.ts';
import type { MeasuredProfile } from './measured-profile.ts';

/** How a sample line of ours begins. */
const START = Buffer.from('{"t":"sample","seq":');

/** The session that rows are of. */
interface OfSession {
  facts: Facts | undefined;
  profile: MeasuredProfile | undefined;
}

/** What is added to a target's rows: the fields, and the same as the end of a row. */
interface Extra {
  fields: Readonly<Record<string, string>>;
  end: Buffer;
}

/** Sample rows on their way into results.jsonl, and all seed rows. */
export class Rows {
  #buffer = Buffer.allocUnsafe(1 << 20);
  #other = Buffer.allocUnsafe(1 << 20);
  #length = 0;
  readonly #seeds: string[] = [];
  /** In a run of several sessions each row names its own. */
  readonly #ofSeveral: boolean;
  #session: OfSession | undefined;
  #extras = new Map<string, Extra>();

  constructor(ofSeveral: boolean) {
    this.#ofSeveral = ofSeveral;
  }

  add(line: Sample | Seed, session: OfSession, block: Buffer, from: number, to: number): void {
    const extra = this.#extraOf(line.target, session);
    if (line.t === 'seed') this.#seeds.push(rowOf(line, extra.fields));
    else if (!this.#splice(line, extra, block, from, to))
      this.#append(Buffer.from(rowOf(line, extra.fields)));
  }

  /** Sample rows since the last call; good until the call after the next one, so that they can be written meanwhile. */
  take(): Uint8Array {
    const taken = this.#buffer.subarray(0, this.#length);
    [this.#buffer, this.#other] = [this.#other, this.#buffer];
    this.#length = 0;
    return taken;
  }

  get seeds(): string {
    return this.#seeds.join('');
  }

  #extraOf(target: string, session: OfSession): Extra {
    if (this.#session !== session) {
      this.#session = session;
      this.#extras.clear();
    }
    const known = this.#extras.get(target);
    if (known) return known;
    const { facts, profile } = session;
    const about = profile?.targets.find((one) => one.name === target);
    const version = about?.role === 'candidate' ? about.commit || facts?.commit : undefined;
    const fields = { ...(version ? { version } : {}), ...(this.#ofSeveral ? { run: facts!.run } : {}) };
    const end = Object.entries(withPlainLists(fields)).map(
      ([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`,
    );
    const extra = { fields, end: Buffer.from(`${end.join('')}}\n`) };
    this.#extras.set(target, extra);
    return extra;
  }

  /**
   * The row cut out of the line's own bytes: writing numbers anew would take longer than all the rest. Only for lines as
   * our session writes them; says whether it was one.
   */
  #splice(line: Sample, { fields, end }: Extra, block: Buffer, from: number, to: number): boolean {
    if (block[to - 1] !== 0x7d) return false;
    for (let at = 0; at < START.length; at++) if (block[from + at] !== START[at]) return false;
    let rest = from + START.length;
    while (block[rest]! >= 0x30 && block[rest]! <= 0x39) rest++;
    if (block[rest] !== 0x2c) return false;
    for (const key in fields) if (key in line) return false;
    this.#reserve(to - from + end.length);
    const buffer = this.#buffer;
    buffer[this.#length++] = 0x7b;
    this.#length += block.copy(buffer, this.#length, rest + 1, to - 1);
    this.#length += end.copy(buffer, this.#length);
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
const rowOf = (
  { t: _t, seq: _seq, ...fields }: Sample | Seed,
  extra: Readonly<Record<string, string>>,
): string => {
  const row = Object.fromEntries(
    Object.entries(withPlainLists(fields)).map(([key, value]) => [
      key in extra ? `bench_${key}` : key,
      value,
    ]),
  );
  return `${JSON.stringify({ ...row, ...extra })}\n`;
};
