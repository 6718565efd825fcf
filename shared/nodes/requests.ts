/** What a pod keeps from others on its node, counted as the scheduler counts it (component-helpers, `PodRequests`). Exact, in nano units. */
import { parseQuantity } from '../quantity.ts';
import type { Container, ContainerStatus, Pod, Requests } from './objects.ts';

export interface Amounts {
  cpu: bigint;
  memory: bigint;
}
const NAMES = ['cpu', 'memory'] as const;
type Name = (typeof NAMES)[number];

/** Clusters write few different quantities, many times. */
const known = new Map<string, bigint>();
const MOST_KNOWN = 10_000;

/** A request's amount; one that is absent asks for nothing, and so does one that no API server would have taken. */
export const amountOf = (requests: Requests | undefined, name: Name): bigint => {
  const text = requests?.[name];
  if (text === undefined) return 0n;
  let amount = known.get(text);
  if (amount === undefined) {
    if (known.size >= MOST_KNOWN) known.clear();
    amount = parseQuantity(String(text)) ?? 0n;
    known.set(text, amount);
  }
  return amount;
};

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Whether the node can never make the size that the spec asks for: then the spec does not count. */
const isInfeasible = (pod: Pod): boolean =>
  pod.status?.conditions?.find((one) => one.type === 'PodResizePending')?.reason === 'Infeasible';

/** Resized in place: the largest of what is asked for, what runs and what is set aside. */
const resized = (
  spec: Requests | undefined,
  status: Pick<ContainerStatus, 'resources' | 'allocatedResources'> | undefined,
  name: Name,
  infeasible: boolean,
): bigint => {
  const asked = amountOf(spec, name);
  if (!status?.resources) return asked;
  const held = larger(amountOf(status.resources.requests, name), amountOf(status.allocatedResources, name));
  return infeasible ? held : larger(asked, held);
};

const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

const needOf = (pod: Pod, name: Name, infeasible: boolean): bigint => {
  const { spec, status } = pod;
  const of = (container: Container, statuses: ContainerStatus[] | undefined): bigint =>
    resized(
      container.resources?.requests,
      statuses?.find((one) => one.name === container.name),
      name,
      infeasible,
    );
  let running = 0n;
  for (const container of spec.containers) running += of(container, status?.containerStatuses);
  // Init containers run one after another, each beside the sidecars that were started before it.
  let sidecars = 0n;
  let starting = 0n;
  for (const container of spec.initContainers ?? []) {
    if (isSidecar(container)) {
      sidecars += of(container, status?.initContainerStatuses);
      starting = larger(starting, sidecars);
    } else starting = larger(starting, sidecars + amountOf(container.resources?.requests, name));
  }
  let need = larger(running + sidecars, starting);
  if (spec.resources?.requests?.[name] !== undefined)
    need = resized(spec.resources.requests, status, name, infeasible);
  return need + amountOf(spec.overhead, name);
};

/** A pod's CPU and memory on its node. */
export const podRequests = (pod: Pod): Amounts => {
  const infeasible = isInfeasible(pod);
  return { cpu: needOf(pod, 'cpu', infeasible), memory: needOf(pod, 'memory', infeasible) };
};

/** Whether a pod counts on a node: bound to one, and neither Succeeded nor Failed. */
export const countsOn = (pod: Pod): string | undefined =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' ? undefined : pod.spec.nodeName;
