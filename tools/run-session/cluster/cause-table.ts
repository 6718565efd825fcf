/**
 * What can go wrong with a session's Job and pod, by name and in words: the one table of causes. Final causes end the run;
 * structural ones end it when they stood unchanged for the settle time; those of capacity pass by themselves, so they are
 * told and waited for until the Job's deadline (DESIGN §4).
 */
export type Kind = 'final' | 'structural' | 'capacity';

interface Row {
  kind: Kind;
  /** What failed, then what to do; `$` stands for what the cluster said. */
  says: string;
}

/** Name → kind and message. All end with exit status 1: they are failures of the place, never of what is measured. */
export const CAUSES = {
  'job-deleted': { kind: 'final', says: 'its Job was deleted by somebody else; measure it again' },
  'pod-deleted': {
    kind: 'final',
    says: 'its pod was deleted by somebody else$; measure it again',
  },
  'namespace-terminating': {
    kind: 'final',
    says: 'its namespace is being deleted; plan with another one',
  },
  deadline: {
    kind: 'final',
    says: "its Job ran into the deadline: no data, which is not the same as slow$; give it more time with 'plan --deadline', or measure less",
  },
  evicted: {
    kind: 'final',
    says: 'its pod was evicted: $; the measurement is void, not bad: measure it again',
  },
  'scratch-full': {
    kind: 'final',
    says: "its scratch space was used up: $; ask for more with 'scratchSize' in the values file, or write less",
  },
  preempted: {
    kind: 'final',
    says: 'its pod was preempted by one of higher priority: $; set priorityClassName, or choose another node',
  },
  'node-gone': { kind: 'final', says: 'its node is gone: $; choose another node' },
  'node-away': {
    kind: 'capacity',
    says: 'its node does not answer: $',
  },
  'kubelet-refused': {
    kind: 'final',
    says: 'the node refused its pod: $; choose another node, or ask for what it has',
  },
  'out-of-memory': {
    kind: 'final',
    says: 'it was killed because its memory was used up$; ask for more with --memory',
  },
  'wrong-architecture': {
    kind: 'structural',
    says: "its image does not run on the node's architecture: $; choose nodes of the image's architecture",
  },
  'container-start': { kind: 'structural', says: "its container can't be started: $" },
  image: {
    kind: 'structural',
    says: "its image can't be pulled: $; check name, digest and imagePullSecrets",
  },
  'registry-busy': { kind: 'capacity', says: 'the registry is busy: $' },
  config: { kind: 'structural', says: "its container can't be configured: $" },
  volume: { kind: 'structural', says: "a volume can't be mounted: $; check the claim" },
  claim: { kind: 'structural', says: "its claim can't be used: $; check the name given with --pvc" },
  unschedulable: {
    kind: 'structural',
    says: 'no node takes its pod: $; change node, nodeSelector or tolerations',
  },
  'no-room': { kind: 'capacity', says: 'no node has room for its pod now: $' },
  'scaling-up': { kind: 'capacity', says: 'the cluster is making room for its pod: $' },
  held: { kind: 'capacity', says: 'its pod is held back: $' },
  quota: {
    kind: 'structural',
    says: "the namespace's quota has no room for its pod: $; ask for less, or raise the quota",
  },
  'quota-full': { kind: 'capacity', says: "the namespace's quota is used up now: $" },
  'limit-range': {
    kind: 'structural',
    says: "the namespace's limits refuse its pod: $; ask for what they allow",
  },
  'pod-security': {
    kind: 'structural',
    says: "the namespace's Pod Security level refuses its pod: $; use a namespace that admits 'restricted' pods",
  },
  admission: { kind: 'structural', says: 'the cluster refuses its pod: $' },
  'second-pod': { kind: 'final', says: 'a second pod was started for it: $; the measurement is void' },
} as const satisfies Readonly<Record<string, Row>>;

export type CauseName = keyof typeof CAUSES;

export interface Cause {
  name: CauseName;
  kind: Kind;
  message: string;
}

/** Long sentences of the scheduler and of registries. */
const LONGEST = 600;

export const cause = (name: CauseName, said = ''): Cause => {
  const { kind, says } = CAUSES[name];
  const text = said.replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, LONGEST);
  const message = says.includes(': $')
    ? says.replace('$', () => text || 'no reason given')
    : says.replace('$', () => (text ? ` (${text})` : ''));
  return { name, kind, message };
};
