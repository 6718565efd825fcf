/** What a session's pod asks of its namespace, out of the manifest. Pure. */
import type { Values } from '../../schemas/values.ts';
import { NANO, parseQuantity, unitsOf } from '../../shared/quantity.ts';

export interface Need {
  /** Resource, as quotas name it → nano units, of one session. */
  amounts: ReadonlyMap<string, bigint>;
  /** Pods side by side. */
  pods: number;
  priorityClass: string | undefined;
  /** Resources that the container names, in requests and limits alike. */
  named: readonly string[];
  /** Size of the claim that a storage class is asked for; undefined: scratch is no claim. */
  claim: { size: bigint; class: string } | undefined;
}

/** Requests equal limits, and nothing but CPU and memory is asked for. */
export const needOf = (values: Values, pods: number): Need => {
  const cpu = BigInt(values.cpus) * NANO;
  const memory = parseQuantity(values.memory) ?? 0n;
  const storage = parseQuantity(values.scratchSize) ?? 0n;
  const kind = values.scratchStorageClass;
  const one = NANO;
  const inClass = kind === undefined ? undefined : `${kind}.storageclass.storage.k8s.io`;
  return {
    amounts: new Map([
      ...['cpu', 'requests.cpu', 'limits.cpu'].map((name) => [name, cpu] as const),
      ...['memory', 'requests.memory', 'limits.memory'].map((name) => [name, memory] as const),
      ...['pods', 'count/pods', 'count/jobs.batch'].map((name) => [name, one] as const),
      ...(inClass === undefined
        ? []
        : ([
            ['requests.storage', storage],
            ['persistentvolumeclaims', one],
            ['count/persistentvolumeclaims', one],
            [`${inClass}/requests.storage`, storage],
            [`${inClass}/persistentvolumeclaims`, one],
          ] as const)),
    ]),
    pods,
    priorityClass: values.priorityClassName,
    named: ['cpu', 'memory'],
    claim: kind === undefined ? undefined : { size: storage, class: kind },
  };
};

/** An amount of a resource as people write it. */
export const shown = (nano: bigint, resource: string): string => {
  const units = unitsOf(nano);
  if (units === 0 || !/memory|storage$/.test(resource)) return String(units);
  const [size, unit] = units >= 2 ** 30 ? [2 ** 30, 'Gi'] : [2 ** 20, 'Mi'];
  return `${Math.round((units / size) * 100) / 100}${unit}`;
};
