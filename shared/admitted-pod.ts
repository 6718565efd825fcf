/** The pod as the cluster admitted it, against the manifest: webhooks and limits change pods, and another pod is another measurement. Pure. */
import { parseQuantity } from './quantity.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What of a pod is compared. */
export interface AdmittedPod {
  spec: Fields;
  status: { qosClass?: string };
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value in a line. */
export const shown = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
};

const same = (wanted: unknown, found: unknown): boolean => {
  if (wanted === found) return true;
  if (typeof wanted !== 'string' || typeof found !== 'string') return false;
  const [a, b] = [parseQuantity(wanted), parseQuantity(found)];
  return a !== undefined && a === b;
};

/** Lists in which the cluster may add something without changing what is measured. */
const MAY_GROW = new Set(['tolerations', 'imagePullSecrets']);

/** Lists of things that have names: told by name what is there too much or not. */
export const byName = (list: readonly unknown[]): Map<string, Fields> | undefined => {
  const named = list.filter(
    (one): one is Fields & { name: string } => isFields(one) && typeof one['name'] === 'string',
  );
  return named.length === list.length ? new Map(named.map((one) => [one.name, one])) : undefined;
};

const ofLists = (wanted: readonly unknown[], found: readonly unknown[], path: string): string[] => {
  const grows = MAY_GROW.has(path.split('.').at(-1)!);
  const [a, b] = [byName(wanted), byName(found)];
  if (a && b) {
    const added = grows ? [] : [...b.keys()].filter((name) => !a.has(name));
    return [
      ...added.map((name) => `${path}: '${name}' was added`),
      ...[...a].flatMap(([name, one]) =>
        b.has(name) ? of(one, b.get(name), `${path} '${name}'`) : [`${path}: '${name}' was removed`],
      ),
    ];
  }
  // Admission plugins put theirs first or last.
  if (grows)
    return wanted.flatMap((one, at) =>
      found.some((other) => of(one, other, path).length === 0)
        ? []
        : [`${path}[${at}]: ${shown(one)} was removed`],
    );
  if (wanted.length === found.length)
    return wanted.flatMap((one, at) => of(one, found[at], `${path}[${at}]`));
  return [`${path}: ${shown(wanted)} became ${shown(found)}`];
};

/** What the manifest says and the pod has otherwise; what the server fills in beside it is its own. */
const of = (wanted: unknown, found: unknown, path: string): string[] => {
  if (Array.isArray(wanted)) return ofLists(wanted, Array.isArray(found) ? found : [], path);
  if (isFields(wanted)) {
    const has = isFields(found) ? found : {};
    const added =
      path.endsWith('resources.requests') || path.endsWith('resources.limits')
        ? Object.keys(has).filter((key) => !(key in wanted))
        : [];
    return [
      ...added.map((key) => `${path}: '${key}' was added`),
      ...Object.entries(wanted).flatMap(([key, one]) =>
        of(one, has[key], path === '' ? key : `${path}.${key}`),
      ),
    ];
  }
  return same(wanted, found) ? [] : [`${path}: ${shown(wanted)} became ${shown(found)}`];
};

/** What the server never fills in, and what changes what is measured: another runtime, probes that run beside it. */
const ADDED_TO_POD = [
  'runtimeClassName',
  'hostNetwork',
  'hostPID',
  'hostIPC',
  'shareProcessNamespace',
  'resources',
  'resourceClaims',
];
const ADDED_TO_CONTAINER = [
  'args',
  'envFrom',
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
];

const addedKeys = (wanted: Fields, found: Fields, keys: readonly string[], path = ''): string[] =>
  keys
    .filter((key) => wanted[key] === undefined && found[key] !== undefined)
    .map((key) => `${path}${key}: ${shown(found[key])} was added`);

const addedTo = (spec: Fields, pod: Fields): string[] => {
  const [wanted, found] = [spec, pod].map((one) => byName((one['containers'] as unknown[]) ?? []));
  return [
    ...addedKeys(spec, pod, ADDED_TO_POD),
    ...[...(wanted ?? [])].flatMap(([name, one]) =>
      addedKeys(one, found?.get(name) ?? {}, ADDED_TO_CONTAINER, `containers '${name}'.`),
    ),
  ];
};

/** Differences, one sentence each; empty when the pod is the one that was asked for. */
export const differences = (manifest: Fields, pod: AdmittedPod): string[] => {
  const spec = ((manifest['spec'] as Fields)['template'] as Fields)['spec'] as Fields;
  const qos = pod.status.qosClass;
  return [
    ...(qos === 'Guaranteed' ? [] : [`its QoS class is '${qos ?? 'unknown'}', not 'Guaranteed'`]),
    // Lists that the manifest does not have must stay away.
    ...of({ initContainers: [], ephemeralContainers: [], ...spec }, pod.spec, ''),
    ...addedTo(spec, pod.spec),
  ];
};
