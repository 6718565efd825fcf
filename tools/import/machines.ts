/** What two files say of their machines: one machine, or two that are told apart. Pure. */
import type { SessionDoubt } from '../../shared/evidence/input.ts';
import { failed } from '../../shared/failure.ts';
import type { Pair } from './choose.ts';
import type { FoundFile } from './found.ts';

/** Facts of the machine itself, by the formats' words. What else a file says is of the program: its JDK, its executable. */
const OF_MACHINE: ReadonlySet<string> = new Set([
  'cpu',
  'goos',
  'goarch',
  'gomaxprocs',
  'host_name',
  'num_cpus',
]);

type Machine = FoundFile['machine'];

const factsThatDiffer = (first: Machine, second: Machine): string[] =>
  Object.keys(first).filter((name) => second[name] !== undefined && second[name] !== first[name]);

export interface Machines {
  /** What both say alike by its own name, what they say differently by each target's. */
  machine: Machine;
  doubts: SessionDoubt[];
}

/** Files of two machines are refused unless `apart` says that they are meant. */
export const machinesOf = (
  [first, second]: readonly [Machine, Machine | undefined],
  { reference, candidate }: Pair,
  apart: boolean,
): Machines => {
  if (second === undefined) return { machine: first, doubts: [] };
  const differing = factsThatDiffer(first, second);
  const machine = {
    ...first,
    ...second,
    ...Object.fromEntries(
      differing.flatMap((name) => [
        [`${name} of ${reference.target}`, first[name]!],
        [`${name} of ${candidate.target}`, second[name]!],
      ]),
    ),
  };
  for (const name of differing) delete machine[name];
  const other = differing.filter((name) => OF_MACHINE.has(name));
  if (other.length === 0) return { machine, doubts: [] };
  const named = other
    .map(
      (name) =>
        `${name} is '${first[name]!}' of '${reference.target}' and '${second[name]!}' of '${candidate.target}'`,
    )
    .join('; ');
  if (!apart)
    throw failed(
      `the files come from two machines: ${named}; measure both on one, or '--machines-apart' compares them with a doubt`,
    );
  return {
    machine,
    doubts: [
      {
        name: 'other-machine',
        value: other.length,
        threshold: 0,
        side: 'above',
        sentence: `two machines: ${named}; what the machines differ in looks like a difference between the programs`,
      },
    ],
  };
};
