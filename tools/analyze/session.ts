/** One session's log, read as a stream: its lines checked, its numbers kept, its rows handed on. */
import type { NodeType } from '../../schemas/analysis.ts';
import type { Cpu, Facts, LogLine, Pin, Sample, Seed } from '../../schemas/log.ts';
import { blocksOf } from '../../shared/line-blocks.ts';
import { type Digest, type LogState, SessionLog, type SessionLine } from '../../shared/session-log.ts';
import { shownValue } from '../../shared/read.ts';
import { lineProblems } from './line-check.ts';
import { readLongLine } from './long-line.ts';
import { type MeasuredProfile, measuredTargets, profileOf } from './measured-profile.ts';
import { Readings } from './readings.ts';
import type { Rows } from './rows.ts';
import { Samples } from './samples.ts';

/** How many wrong lines are named; of more, only the count is. */
const NAMED = 20;

/** Nothing is wrong: one list for all lines. */
const NONE: readonly string[] = [];

const nodeTypeOf = (line: Sample | Seed): NodeType => ({
  cpuModel: line.cpuModel,
  cpuFeatures: line.cpuFeatures,
  gomaxprocs: line.gomaxprocs,
});

/** What one log holds. Filled by {@link readSession}, complete once that has ended. */
export class Session {
  /** The log as messages name it. */
  readonly place: string;
  facts: Facts | undefined;
  pin: Pin | undefined;
  profile: MeasuredProfile | undefined;
  readonly seeds: Seed[] = [];
  readonly readings = new Readings();
  /** Node types of all seed and sample lines, in the order met. */
  readonly nodeTypes: NodeType[] = [];
  /** Why the rounds ended early, as planned. */
  stopped: string | undefined;
  /** When the session was done; absent when it did not come so far. */
  doneAt: string | undefined;
  /** What the session says that it did. */
  counted: { seeds: number; samples: number } | undefined;
  error: { message: string; invalid: boolean } | undefined;
  log: LogState | undefined;
  readonly #samples = new Map<string, Map<number, Samples>>();
  readonly #problems: string[] = [];
  #wrongLines = 0;

  constructor(place: string) {
    this.place = place;
  }

  /** The samples of one target at one size; empty ones when the log has none. */
  samples(target: string, turns: number): Samples {
    let bySize = this.#samples.get(target);
    if (!bySize) this.#samples.set(target, (bySize = new Map()));
    let found = bySize.get(turns);
    if (!found) bySize.set(turns, (found = new Samples(this.profile?.metrics ?? [])));
    return found;
  }

  seedOf(target: string, turns: number): Seed | undefined {
    return this.seeds.find((one) => one.target === target && one.turns === turns);
  }

  /** Why nothing may be computed from it, one sentence each; empty when all is well. */
  get problems(): string[] {
    const { place, log } = this;
    const more = this.#wrongLines - this.#problems.length;
    const all = [
      ...this.#problems,
      ...(more > 0 ? [`${place}: ${more} more lines that don't fit the format`] : []),
    ];
    // Without facts no session began; beside a session such a line is somebody's noise.
    if (log?.startupError !== undefined && !this.facts)
      return [...all, `${place}: the session never began: ${log.startupError}`];
    if (this.error) all.push(`${place}: the session failed: ${this.error.message}`);
    for (const one of log?.problems ?? []) all.push(`${place}: ${one}`);
    if (log?.complete && !this.facts && this.#wrongLines === 0) all.push(`${place}: no facts line in it`);
    else if (log?.complete && this.facts && !this.error) {
      if (!this.pin) all.push(`${place}: no pin line in it`);
      if (this.doneAt === undefined) all.push(`${place}: no done line in it: the session did not finish`);
      if (this.#wrongLines === 0) all.push(...this.#miscounted());
    }
    return all;
  }

  #miscounted(): string[] {
    if (!this.counted) return [];
    const { seeds, samples } = this.counted;
    let found = 0;
    for (const bySize of this.#samples.values()) for (const one of bySize.values()) found += one.count;
    return seeds === this.seeds.length && samples === found
      ? []
      : [
          `${this.place}: its done line counts ${seeds} seeds and ${samples} samples, found ${this.seeds.length} and ${found}`,
        ];
  }

  wrong(problems: readonly string[]): void {
    this.#wrongLines += problems.length;
    for (const one of problems) if (this.#problems.length < NAMED) this.#problems.push(one);
  }
}

/** Takes the session's lines in order and keeps what counts. */
class Reader {
  readonly #session: Session;
  #cpu: Cpu | undefined;
  #targets = new Map<string, Set<number>>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Keeps a checked line; returns what is wrong with it beyond its format. */
  take(line: LogLine): readonly string[] {
    const session = this.#session;
    const cpu = this.#cpu;
    this.#cpu = undefined;
    switch (line.t) {
      case 'facts':
        return this.#takeFacts(line);
      case 'pin':
        if (session.pin) return ['a second pin line'];
        session.pin = line;
        session.readings.begin(line, session.facts);
        return NONE;
      case 'cpu':
        this.#cpu = line;
        return NONE;
      case 'seed': {
        const problems = this.#notPlanned(line);
        if (problems.length > 0) return problems;
        session.seeds.push(line);
        this.#note(line);
        return NONE;
      }
      case 'sample': {
        const problems = this.#notPlanned(line);
        if (problems.length > 0) return problems;
        this.#note(line);
        const around = cpu && cpu.step === 'sample' && isOf(cpu, line) ? cpu : undefined;
        session.readings.add(line, around);
        return session.samples(line.target, line.turns).add(line, around);
      }
      case 'stop':
        session.stopped = line.reason;
        return NONE;
      case 'done':
        session.doneAt = line.at;
        session.counted = { seeds: line.seeds, samples: line.samples };
        return NONE;
      case 'error':
        session.error = { message: line.message, invalid: line.invalid === true };
        return NONE;
      case 'warmup':
        // Never counted.
        session.readings.warmup(line.target);
        return NONE;
      default:
        // The end line is the log's own.
        return NONE;
    }
  }

  #takeFacts(line: Facts): readonly string[] {
    const session = this.#session;
    if (session.facts) return ['a second facts line'];
    session.facts = line;
    const found = profileOf(line);
    if ('problems' in found) return found.problems;
    session.profile = found.profile;
    for (const one of measuredTargets(found.profile, line.mode))
      this.#targets.set(one.name, new Set(line.turns));
    const names = [...this.#targets.keys()];
    return names.join() === line.targets.join()
      ? NONE
      : [`targets: expected those of the profile, ${names.join(', ')}, found ${shownValue(line.targets)}`];
  }

  #notPlanned({ t, target, turns }: Sample | Seed): readonly string[] {
    const { facts, profile } = this.#session;
    if (!facts) return [`a ${t} line before the facts`];
    if (!profile) return NONE;
    const sizes = this.#targets.get(target);
    if (!sizes) return [`target: expected a target that this session measures, found ${shownValue(target)}`];
    return sizes.has(turns) ? NONE : [`turns: expected one of ${facts.turns.join(', ')}, found ${turns}`];
  }

  #note(line: Sample | Seed): void {
    for (const type of this.#session.nodeTypes)
      if (
        type.cpuModel === line.cpuModel &&
        type.cpuFeatures === line.cpuFeatures &&
        type.gomaxprocs === line.gomaxprocs
      )
        return;
    this.#session.nodeTypes.push(nodeTypeOf(line));
  }
}

const isOf = (cpu: Cpu, sample: Sample): boolean =>
  cpu.target === sample.target && cpu.turns === sample.turns && cpu.sample === sample.sample;

/**
 * Reads a log into `session`, block by block. Each block yields nothing but the moment after it, when `rows` (of this
 * block) can be written away: memory grows with the numbers kept alone.
 */
export async function* readSession(
  stream: AsyncIterable<Uint8Array>,
  session: Session,
  rows?: Rows,
  hash?: Digest,
): AsyncGenerator<void> {
  const log = new SessionLog({
    repeats: 'refuse',
    readLong: readLongLine,
    ...(hash === undefined ? {} : { hash }),
  });
  const reader = new Reader(session);
  for await (const block of blocksOf(stream)) {
    log.feedBlock(block, (raw: SessionLine, from, to, number) => {
      const place = (): string => `${session.place}:${number}`;
      const wrong = lineProblems(raw, place);
      if (wrong.length > 0) return session.wrong(wrong);
      const line = raw as LogLine;
      const problems = reader.take(line);
      if (problems.length > 0) return session.wrong(problems.map((one) => `${place()}: ${one}`));
      if (rows && (line.t === 'sample' || line.t === 'seed')) rows.add(line, session, block, from, to);
    });
    yield;
  }
  session.log = log.state();
}
