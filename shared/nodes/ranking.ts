/** Nodes in the order in which they are to be chosen, and the choice. Spec §3. Pure. */
import type { Nodes } from '../../schemas/nodes.ts';
import { failed, usage } from '../failure.ts';
import { parseQuantity, unitsOf } from '../quantity.ts';
import { takenAway } from './spot.ts';
import { type NodeFacts, type Tally } from './tally.ts';
import { shownTaint, type Toleration, toleratedFor, untolerated } from './tolerations.ts';

export interface Wanted {
  cpus: number;
  /** A quantity. */
  memory: string;
  /** The artifacts' architecture; undefined: any, as with an image that says nothing of itself. */
  arch?: string;
  selector: Readonly<Record<string, string>>;
  tolerations: readonly Toleration[];
  /** The only nodes to consider; undefined: all. */
  candidates?: readonly string[];
  /** How many to choose. */
  count: number;
  /** Run on exactly the candidates, in the order given: nothing is chosen. */
  exactly?: boolean;
  /** Deadline of the Job, s, for nodes that tolerate it only for a time. */
  deadline_s?: number;
}

interface Ranked {
  row: Nodes['nodes'][number];
  free: { cpu: bigint; memory: bigint };
  facts: NodeFacts;
}

/** Why a node can't be used, all reasons; empty when it can. */
const reasonsAgainst = (
  { labels, taints, cordoned, ready, os, arch, maxPods }: NodeFacts,
  free: Ranked['free'],
  pods: number,
  wanted: Wanted,
): string[] => {
  const reasons: string[] = [];
  if (!ready) reasons.push('not ready');
  if (cordoned) reasons.push('cordoned');
  if (os !== 'linux') reasons.push(os === '' ? 'not known to run Linux' : `runs ${os}`);
  if (wanted.arch !== undefined && arch !== wanted.arch)
    reasons.push(`is ${arch || 'of no known architecture'}, not ${wanted.arch}`);
  for (const [key, value] of Object.entries(wanted.selector))
    if (labels[key] !== value)
      reasons.push(
        `has ${labels[key] === undefined ? `no label ${key}` : `${key}=${labels[key]}`}, not ${key}=${value}`,
      );
  for (const taint of untolerated(taints, wanted.tolerations)) reasons.push(`taint ${shownTaint(taint)}`);
  const cpu = parseQuantity(String(wanted.cpus))!;
  const memory = parseQuantity(wanted.memory)!;
  if (free.cpu < cpu) reasons.push(`${shownCpu(free.cpu)} of ${wanted.cpus} CPUs free`);
  if (free.memory < memory) reasons.push(`${shownMemory(free.memory)} of ${wanted.memory} memory free`);
  if (maxPods !== undefined && pods >= maxPods) reasons.push(`takes ${maxPods} pods and has ${pods}`);
  return reasons;
};

/** Rounded down: what is missing must not look as if it were there. */
const floored = (units: number): string => String(Math.floor(units * 1000) / 1000);
const shownCpu = (nano: bigint): string => floored(unitsOf(nano));
const shownMemory = (nano: bigint): string => `${floored(unitsOf(nano) / 2 ** 30)}Gi`;

const descending = (a: bigint, b: bigint): number => (a < b ? 1 : a > b ? -1 : 0);
const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Usable first, then free CPU, free memory, name. */
const inOrder = (a: Ranked, b: Ranked): number =>
  Number(a.row.skip !== undefined) - Number(b.row.skip !== undefined) ||
  descending(a.free.cpu, b.free.cpu) ||
  descending(a.free.memory, b.free.memory) ||
  byName(a.row.name, b.row.name);

const rankedNodes = (tally: Tally, wanted: Wanted): Ranked[] => {
  const among = wanted.candidates && new Set(wanted.candidates);
  return tally.nodes
    .filter((facts) => among === undefined || among.has(facts.name))
    .map((facts): Ranked => {
      const used = tally.used.get(facts.name) ?? { cpu: 0n, memory: 0n, pods: 0 };
      const free = { cpu: facts.allocatable.cpu - used.cpu, memory: facts.allocatable.memory - used.memory };
      const row: Ranked['row'] = {
        name: facts.name,
        freeCpu: unitsOf(free.cpu),
        freeMemory: unitsOf(free.memory),
        allocatableCpu: unitsOf(facts.allocatable.cpu),
        pods: used.pods,
      };
      const reasons = reasonsAgainst(facts, free, used.pods, wanted);
      if (reasons.length > 0) row.skip = reasons.join('; ');
      return { facts, free, row };
    })
    .toSorted(inOrder);
};

/** What is worth knowing of a node that is chosen. */
const warningsOf = ({ row, facts }: Ranked, wanted: Wanted): string[] => {
  const warnings: string[] = [];
  const word = takenAway(facts.labels);
  if (word) warnings.push(`'${row.name}' is a ${word} node: it may be taken away during the session`);
  const time = toleratedFor(facts.taints, wanted.tolerations);
  if (time !== undefined && time < (wanted.deadline_s ?? Number.POSITIVE_INFINITY))
    warnings.push(
      `'${row.name}' has a NoExecute taint that is tolerated for ${time} s only: the pod is evicted then`,
    );
  if (wanted.exactly && row.skip !== undefined)
    warnings.push(`'${row.name}' can't be used as it is now: ${row.skip}`);
  return warnings;
};

/** Nodes as the account can list them, and those to run on; throws when there are not enough, or a candidate is no node. */
export const chooseListed = (
  tally: Tally,
  basis: 'cluster' | 'namespace',
  wanted: Wanted,
  namespace?: string,
): Nodes => {
  const names = new Set(tally.nodes.map((one) => one.name));
  const strangers = (wanted.candidates ?? []).filter((name) => !names.has(name));
  if (strangers.length > 0)
    throw failed(strangers.map((name) => `'${name}' is not a node of this cluster; correct '--nodes'`));
  const ranked = rankedNodes(tally, wanted);
  const usable = ranked.filter(({ row }) => row.skip === undefined).map(({ row }) => row.name);
  if (!wanted.exactly && usable.length < wanted.count)
    throw failed(tooFew(ranked, usable.length, wanted.count));
  const chosen = wanted.exactly ? [...(wanted.candidates ?? [])] : usable.slice(0, wanted.count);
  return {
    basis,
    nodes: ranked.map(({ row }) => row),
    chosen,
    warnings: [
      ...(basis === 'namespace'
        ? [
            `the account can list pods of namespace '${namespace}' only: others' requests are not counted, so free CPU and memory are upper bounds`,
          ]
        : []),
      ...ranked.filter(({ row }) => chosen.includes(row.name)).flatMap((one) => warningsOf(one, wanted)),
    ],
  };
};

/** How many reasons are told, those of most nodes first. */
const SHOWN = 5;

const tooFew = (ranked: readonly Ranked[], usable: number, count: number): string[] => {
  const reasons = new Map<string, string[]>();
  for (const { row } of ranked)
    if (row.skip !== undefined) reasons.set(row.skip, [...(reasons.get(row.skip) ?? []), row.name]);
  const told = [...reasons].toSorted((a, b) => b[1].length - a[1].length);
  const rest = told.slice(SHOWN).reduce((sum, [, names]) => sum + names.length, 0);
  return [
    `${usable} of ${ranked.length} nodes can be used, and ${count} ${count === 1 ? 'is' : 'are'} needed; free some, tolerate their taints, or ask for less`,
    ...told
      .slice(0, SHOWN)
      .map(
        ([reason, names]) =>
          `${names.length === 1 ? `'${names[0]}'` : `${names.length} nodes, '${names[0]}' one of them`}: ${reason}`,
      ),
    ...(rest > 0 ? [`and ${rest} more for other reasons`] : []),
  ];
};

/**
 * Without a list of nodes: the candidates by the CPU that the namespace's pods ask for on them, ascending, then in the
 * order given. Nothing else is known of them.
 */
export const chooseCandidates = (tally: Tally, wanted: Wanted, namespace: string | undefined): Nodes => {
  const { candidates, count } = wanted;
  if (!candidates)
    throw usage(
      "the account can't list nodes; name candidates with '--nodes a,b,…', or ask for the grant of cluster reads",
    );
  if (candidates.length < count)
    throw usage(`${count} nodes are needed, and ${candidates.length} are named with '--nodes'; name more`);
  const ranked = candidates
    .map((name, at) => ({ name, at, used: tally.used.get(name) ?? { cpu: 0n, memory: 0n, pods: 0 } }))
    .toSorted((a, b) => (a.used.cpu < b.used.cpu ? -1 : a.used.cpu > b.used.cpu ? 1 : a.at - b.at));
  return {
    basis: 'candidates',
    nodes: ranked.map(({ name, used }) => ({
      name,
      freeCpu: null,
      freeMemory: null,
      allocatableCpu: null,
      requestedCpu: unitsOf(used.cpu),
      pods: used.pods,
    })),
    chosen: wanted.exactly ? [...candidates] : ranked.slice(0, count).map((one) => one.name),
    warnings: [
      `the account can't list nodes: the candidates are ranked by the requests of ${namespace ? `namespace '${namespace}'` : 'the pods given'} alone; whether they are ready and have room is not known`,
    ],
  };
};
