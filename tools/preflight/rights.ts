/** The rights that a run uses, verb by verb, and which of them are missing. They are those of the README's grants. Pure. */
import type { Asked } from './asked.ts';
import { area, type Finding } from './finding.ts';
import { isBefore, type Version } from './server.ts';

const { ok, warn, fail } = area('permissions');

export interface Right {
  verb: string;
  /** API group; '' is the core one. */
  group: string;
  resource: string;
  subresource?: string;
  /** In all namespaces, or of the cluster; else in the run's. */
  everywhere?: true;
}

interface Row extends Right {
  /** What it is used for. */
  use: string;
  /** Whether a run is nothing without it. */
  needed: (asked: Asked, version: Version | undefined) => boolean;
  /** Whether it is asked about at all. */
  when?: (asked: Asked) => boolean;
  /** What to do without it, when it is not needed. */
  instead?: string;
}

const always = (): boolean => true;
const never = (): boolean => false;

/** Exec over WebSocket is authorised as `get`, and from this release on as `create`, too. */
const CREATES_EXEC = '1.35';

const job = (verb: string, use: string): Row => ({
  verb,
  group: 'batch',
  resource: 'jobs',
  use,
  needed: always,
});
const core = (verb: string, resource: string, use: string, needed: Row['needed'] = always): Row => {
  const [name, subresource] = resource.split('/');
  return { verb, group: '', resource: name!, ...(subresource ? { subresource } : {}), use, needed };
};
const isBundle = ({ delivery }: Asked): boolean => delivery === 'bundle';
/** Nodes are chosen, and nobody says among which. */
const choosesFromAll = ({ picks, wanted }: Asked): boolean => picks && wanted.candidates === undefined;

/** In the order in which a run uses them. */
const ROWS: readonly Row[] = [
  {
    ...core('list', 'nodes', 'nodes are ranked by what is free on them', choosesFromAll),
    everywhere: true,
    instead: "name nodes with '--nodes a,b,…', or ask for the grant of cluster reads",
  },
  {
    ...core('list', 'pods', "other namespaces' pods count in what is free on a node", never),
    everywhere: true,
    instead: 'ask for the grant of cluster reads; without it free CPU and memory are upper bounds',
  },
  job('create', 'a session is submitted as a Job'),
  job('get', 'a Job is found again after a broken connection, and by a later process'),
  job('list', 'its Job is followed'),
  job('watch', 'its Job is followed'),
  job('delete', 'what was created is removed'),
  core('list', 'pods', 'its pod is followed'),
  core('watch', 'pods', 'its pod is followed'),
  core('get', 'pods/log', 'its log is followed'),
  {
    ...core('list', 'events', 'why a pod does not start is told by events', never),
    instead: 'ask for it: a run works, but says less of what holds its pod up',
  },
  {
    ...core('get', 'pods/exec', 'the bundle is sent to the pod'),
    when: isBundle,
  },
  {
    ...core('create', 'pods/exec', 'the bundle is sent to the pod', (_, version) =>
      version === undefined ? true : !isBefore(version, CREATES_EXEC),
    ),
    when: isBundle,
    instead: `this server goes by 'get' alone; ask for both before it becomes ${CREATES_EXEC}`,
  },
  {
    ...core('get', 'nodes', "the node's kind is recorded in cluster.json", never),
    everywhere: true,
    instead: 'ask for the grant of cluster reads; without it cluster.json does not say what the node is',
  },
];

/** `pods/exec`. */
const shownResource = ({ resource, subresource }: Right): string =>
  subresource ? `${resource}/${subresource}` : resource;

/** A right in words, which names it in answers, too. */
export const nameOf = (right: Right): string =>
  `${right.verb} ${shownResource(right)}${right.everywhere && right.resource === 'pods' ? ' everywhere' : ''}`;

/** The rights to ask about for a run. */
export const rightsOf = (asked: Asked): readonly Right[] => ROWS.filter((row) => row.when?.(asked) ?? true);

/** The right that makes the pod's dry run possible; a run itself never needs it. */
export const TRY_POD: Right = { verb: 'create', group: '', resource: 'pods' };

/** Whether exec is worth a try: the verb that counts is granted. */
export const execAllowed = (
  asked: Asked,
  version: Version | undefined,
  rights: ReadonlyMap<string, boolean | undefined>,
): boolean =>
  ROWS.filter((row) => row.subresource === 'exec' && row.needed(asked, version)).every(
    (row) => rights.get(nameOf(row)) === true,
  );

const ruleOf = (right: Right): string =>
  `apiGroups: [${right.group || "''"}], resources: [${shownResource(right)}], verbs: [${right.verb}]`;

/** One finding per verb. `rights` has what the server answered; undefined: it would not say. */
export const rightsFindings = (
  asked: Asked,
  version: Version | undefined,
  rights: ReadonlyMap<string, boolean | undefined>,
): Finding[] =>
  ROWS.filter((row) => row.when?.(asked) ?? true).map((row) => {
    const name = nameOf(row);
    const allowed = rights.get(name);
    if (allowed === true) return ok(name, 'allowed', row.use);
    if (allowed === undefined)
      return warn(
        name,
        'not known: the server does not tell this account its rights',
        row.use,
        "let it create selfsubjectaccessreviews, as 'system:basic-user' does",
      );
    return row.needed(asked, version)
      ? fail(
          name,
          'not allowed',
          `without it no run works: ${row.use}`,
          row.everywhere
            ? row.instead!
            : `ask for a Role with {${ruleOf(row)}}; the README's grants have all of them`,
        )
      : warn(name, 'not allowed', row.use, row.instead!);
  });
