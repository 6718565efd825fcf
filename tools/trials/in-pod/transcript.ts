/** What an agent says of itself on stdout, counted by the rules of its settings. Nothing of it decides anything. */
import type { ArmSettings } from '../../../schemas/arm-settings.ts';
import type { TrialLine } from '../../../schemas/trial-line.ts';

/** A longer line is passed over, bytes. */
const LONGEST_LINE = 8 << 20;

const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
          ? (inner as Record<string, unknown>)[key]
          : undefined,
      value,
    );

const holds = (line: unknown, where: Readonly<Record<string, string>>): boolean =>
  Object.entries(where).every(([path, text]) => at(line, path) === text);

/** A sum of numbers of a line; what is not there adds nothing. */
const sumOf = (line: unknown, paths: readonly string[]): number =>
  paths.reduce((sum, path) => {
    const value = at(line, path.replace(/^-/, ''));
    return typeof value === 'number' && Number.isFinite(value)
      ? sum + (path.startsWith('-') ? -value : value)
      : sum;
  }, 0);

const KEYS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

export class Transcript {
  readonly #rules: ArmSettings['transcript'];
  #messages = 0;
  #usage: Record<(typeof KEYS)[number], number> | undefined;
  #rest: Buffer[] = [];
  #length = 0;

  constructor(rules: ArmSettings['transcript']) {
    this.#rules = rules;
  }

  /** The next bytes of stdout. */
  take(part: Buffer): void {
    if (!this.#rules) return;
    let from = 0;
    for (let to = part.indexOf(10); to !== -1; to = part.indexOf(10, from)) {
      this.#hold(part.subarray(from, to));
      this.#end();
      from = to + 1;
    }
    this.#hold(part.subarray(from));
  }

  #hold(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#length <= LONGEST_LINE) this.#rest.push(Buffer.from(bytes));
    else this.#rest = [];
  }

  #end(): void {
    const [parts, length] = [this.#rest, this.#length];
    this.#rest = [];
    this.#length = 0;
    if (length > LONGEST_LINE || length === 0 || !this.#rules) return;
    const text = Buffer.concat(parts).toString('utf8');
    if (!text.startsWith('{')) return;
    try {
      this.#line(JSON.parse(text) as unknown, this.#rules);
    } catch {
      // Agents print other things, too.
    }
  }

  #line(line: unknown, { messages, usage }: NonNullable<ArmSettings['transcript']>): void {
    if (holds(line, messages)) this.#messages++;
    if (!holds(line, usage.where)) return;
    const before = usage.take === 'add' ? this.#usage : undefined;
    this.#usage = Object.fromEntries(
      KEYS.map((key) => [key, (before?.[key] ?? 0) + Math.max(0, sumOf(line, usage[key]))]),
    ) as Record<(typeof KEYS)[number], number>;
  }

  /** What was counted; null: the agent has no transcript, or reported no usage. */
  get counted(): Pick<TrialLine, 'assistantMessages' | 'usage'> {
    if (!this.#rules) return { assistantMessages: null, usage: null };
    const usage = this.#usage;
    return {
      assistantMessages: this.#messages,
      usage: usage
        ? { ...usage, totalTokens: usage.input + usage.output + usage.cacheRead + usage.cacheWrite }
        : null,
    };
  }
}
