/** Deliveries `image` and `bundle`: the session runs as a Job in a cluster. */
import { EXIT } from '../../../shared/exit.ts';
import { type Cluster, connect } from '../../../shared/kubernetes.ts';
import type { World } from '../../../shared/world.ts';
import { values as valuesSchema, type Values } from '../../../schemas/values.ts';
import type { Delivery, Task, Unclaimed } from '../task.ts';
import { readClaimCopy } from './claim-copy.ts';
import { LeftRunning } from './patience.ts';
import type { Carrier } from './carrier.ts';
import { admitted, manifestIn } from './rendered.ts';
import { measureInCluster } from './session.ts';

/** The same outside, which no ^C cuts off from the cluster: what was created has to be removed. */
const unstoppable = (world: World): World =>
  Object.create(world, { interrupted: { value: new AbortController().signal } }) as World;

export const clusterOf = (values: Values, world: World): Cluster => connect(values, unstoppable(world));

/** A terminal that hangs up leaves the session to itself. */
const onHangup = (): { signal: AbortSignal; stop: () => void } => {
  const controller = new AbortController();
  const hangup = (): void => controller.abort('SIGHUP');
  process.on('SIGHUP', hangup);
  return { signal: controller.signal, stop: () => process.off('SIGHUP', hangup) };
};

const prepared = (task: Unclaimed) => {
  const values = task.run.json('values.json', valuesSchema);
  return { values, manifest: manifestIn(task, values.namespace) };
};

/** A delivery whose artifacts reach the pod by a carrier. */
export const inCluster = (
  carrierOf: (task: Task, cluster: Cluster, namespace: string) => Carrier,
  check: (task: Unclaimed) => void = () => undefined,
): Delivery => ({
  attaches: true,
  async admit(task) {
    const { values, manifest } = prepared(task);
    // Resolves the connection, contacts nothing.
    clusterOf(values, task.world);
    check(task);
    return { manifest: await admitted(task, manifest) };
  },
  wouldDo(task) {
    const { values, manifest } = prepared(task);
    const { server, context } = clusterOf(values, task.world);
    return {
      server,
      context,
      namespace: values.namespace,
      creates: manifest,
      ...(task.about.delivery === 'bundle'
        ? { sends: task.about.root, sha256: task.about.bundleSha256 }
        : {}),
    };
  },
  async measure(task) {
    const { values, manifest } = prepared(task);
    const cluster = clusterOf(values, task.world);
    const namespace = values.namespace!;
    const hangup = onHangup();
    try {
      const carrier = carrierOf(task, cluster, namespace);
      return await measureInCluster({ task, cluster, namespace, manifest, carrier, hangup: hangup.signal });
    } catch (error) {
      if (!(error instanceof LeftRunning)) throw error;
      const again = `'k8sbench run-session --run ${task.run.shown}'`;
      if (error.exit === EXIT.done)
        task.talk.info(`'${task.run.shown}' goes on by itself; ${again} attaches to it`);
      const made = task.job.job.job !== undefined;
      const left = made
        ? `the session goes on; ${again} attaches to it`
        : `whether its Job was made is not known; ${again} looks for it, and makes it when it is not there`;
      return {
        outcome: 'running',
        exit: error.exit,
        message: error.exit === EXIT.done ? 'detached' : `${error.message}; ${left}`,
      };
    } finally {
      hangup.stop();
    }
  },
});

/** The copy of the log on the results claim; undefined where there is none. */
export const claimCarrier = (task: Task, cluster: Cluster, namespace: string): Carrier | undefined => {
  if (task.run.json('values.json', valuesSchema).pvc === undefined) return undefined;
  const about = { task, cluster, namespace };
  return {
    spool: { lies: 'on a claim', read: (pod, ...rest) => readClaimCopy(about, pod, ...rest) },
  };
};

/** Delivery `image`: everything is in the image. */
export const image: Delivery = inCluster((...about) => claimCarrier(...about) ?? {});
