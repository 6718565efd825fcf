/** Which benchmarks become reference and candidate. Pure. */
import { type Failure, usage } from '../../shared/failure.ts';
import type { Found, FoundFile } from './found.ts';

/** A file that was read, and what messages and targets call it. */
export interface Read extends FoundFile {
  place: string;
  /** Its base name without an extension. */
  short: string;
}

export interface Asked {
  reference?: string;
  candidate?: string;
  benchmark?: string;
}

/** One target: what it is called, and where its samples are. */
export interface Side {
  target: string;
  found: Found;
}

export interface Pair {
  /** What is measured. */
  what: string;
  reference: Side;
  candidate: Side;
}

const listed = (names: readonly string[]): string => names.map((one) => `'${one}'`).join(', ');

const absent = (place: string, name: string, all: readonly Found[]): string =>
  `'${place}' has no '${name}'; it has ${listed(all.map((one) => one.name))}`;

/** Two names inside one file. */
const within = ({ place, short, benchmarks }: Read, asked: Asked): Pair | Failure => {
  if (asked.benchmark !== undefined)
    return usage(
      "'--benchmark' chooses one of two files' benchmarks; in one file name two: '--reference NAME --candidate NAME'",
    );
  const named = [asked.reference, asked.candidate];
  if (named.some((one) => one === undefined))
    return usage(
      `one file needs two names: '--reference NAME --candidate NAME'; '${place}' has ${listed(benchmarks.map((one) => one.name))}`,
    );
  if (asked.reference === asked.candidate)
    return usage(`'--reference' and '--candidate' name the same: '${asked.reference}'`);
  const [reference, candidate] = named.map((name) => benchmarks.find((one) => one.name === name));
  if (!reference || !candidate)
    return usage(
      [
        reference ? [] : [absent(place, asked.reference!, benchmarks)],
        candidate ? [] : [absent(place, asked.candidate!, benchmarks)],
      ].flat(),
    );
  return {
    what: short,
    reference: { target: reference.name, found: reference },
    candidate: { target: candidate.name, found: candidate },
  };
};

/** One benchmark of two files: the first is the reference's. */
const between = ([first, second]: readonly [Read, Read], asked: Asked): Pair | Failure => {
  const common = first.benchmarks.filter((one) => second.benchmarks.some((other) => other.name === one.name));
  const { benchmark = common.length === 1 ? common[0]!.name : undefined } = asked;
  if (benchmark === undefined)
    return usage(
      common.length === 0
        ? `'${first.place}' and '${second.place}' have no benchmark in common`
        : `which benchmark? '--benchmark NAME' chooses; both files have ${listed(common.map((one) => one.name))}`,
    );
  const sides = [first, second].map((file) => file.benchmarks.find((one) => one.name === benchmark));
  const missing = [first, second].filter((_, at) => !sides[at]);
  if (missing.length > 0) return usage(missing.map((file) => absent(file.place, benchmark, file.benchmarks)));
  const names = [asked.reference ?? first.short, asked.candidate ?? second.short];
  if (names[0] === names[1])
    return usage(
      `both targets would be called '${names[0]}'; name them: '--reference NAME --candidate NAME'`,
    );
  return {
    what: benchmark,
    reference: { target: names[0]!, found: sides[0]! },
    candidate: { target: names[1]!, found: sides[1]! },
  };
};

/** The pair that a command line asks for. */
export const pairOf = (files: readonly Read[], asked: Asked): Pair => {
  const pair = files.length === 1 ? within(files[0]!, asked) : between(files as [Read, Read], asked);
  if (pair instanceof Error) throw pair;
  return pair;
};
