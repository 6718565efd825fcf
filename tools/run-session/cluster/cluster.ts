/** Deliveries `image` and `bundle`: the session runs as a Job in a cluster. */
import { EXIT } from '../../../shared/exit.ts';
import { failed } from '../../../shared/failure.ts';
import { MANIFEST_FILE } from '../../../shared/job/manifest-file.ts';
import { type Cluster, connect } from '../../../shared/kubernetes.ts';
import { readText } from '../../../shared/read.ts';
import type { RunDirectory } from '../../../shared/rundir.ts';
import type { World } from '../../../shared/world.ts';
import { parseForeignYaml } from '../../../shared/yaml.ts';
import { values as valuesSchema, type Values } from '../../../schemas/values.ts';
import type { Delivery, Task, Unclaimed } from '../task.ts';
import { readClaimCopy } from './claim-copy.ts';
import { LeftRunning } from './patience.ts';
import type { Carrier } from './carrier.ts';
import { measureInCluster } from './session.ts';

/** The same outside, which no ^C cuts off from the cluster: what was created has to be removed. */
const unstoppable = (world: World): World =>
  Object.create(world, { interrupted: { value: new AbortController().signal } }) as World;

export const clusterOf = (values: Values, world: World): Cluster => connect(values, unstoppable(world));

/** manifest.yaml, as far as it must be this run's. */
const manifestIn = (
  run: RunDirectory,
  compact: string,
  namespace: string | undefined,
): Record<string, unknown> => {
  if (!run.has(MANIFEST_FILE))
    throw failed(
      `'${run.shown}' has no ${MANIFEST_FILE}; 'render' writes it: k8sbench render --run ${run.shown}`,
    );
  const shown = `${run.shown}/${MANIFEST_FILE}`;
  const read = parseForeignYaml(readText(run.file(MANIFEST_FILE), shown), shown) as any;
  const { metadata, spec } = read ?? {};
  const problems: string[] = [];
  if (read?.kind !== 'Job') problems.push(`${shown}: expected a Job`);
  if (metadata?.name !== run.name)
    problems.push(`${shown}: its name is '${metadata?.name}', not '${run.name}'`);
  if (metadata?.namespace !== namespace)
    problems.push(`${shown}: its namespace is '${metadata?.namespace}', and the run's '${namespace}'`);
  const env: { name: string; value?: string }[] = spec?.template?.spec?.containers?.[0]?.env ?? [];
  const plan = env.find((one) => one.name === 'K8SBENCH_PLAN')?.value;
  if (plan !== compact.replaceAll('$', '$$$$')) problems.push(`${shown}: it does not carry this run's plan`);
  if (problems.length > 0) throw failed([...problems, `write it again: k8sbench render --run ${run.shown}`]);
  return read as Record<string, unknown>;
};

/** A terminal that hangs up leaves the session to itself. */
const onHangup = (): { signal: AbortSignal; stop: () => void } => {
  const controller = new AbortController();
  const hangup = (): void => controller.abort('SIGHUP');
  process.on('SIGHUP', hangup);
  return { signal: controller.signal, stop: () => process.off('SIGHUP', hangup) };
};

const prepared = (task: Unclaimed) => {
  const values = task.run.json('values.json', valuesSchema);
  return { values, manifest: manifestIn(task.run, task.compact, values.namespace) };
};

/** A delivery whose artifacts reach the pod by a carrier. */
export const inCluster = (
  carrierOf: (task: Task, cluster: Cluster, namespace: string) => Carrier,
  check: (task: Unclaimed) => void = () => undefined,
): Delivery => ({
  attaches: true,
  refuse(task) {
    const { values } = prepared(task);
    // Resolves the connection, contacts nothing.
    clusterOf(values, task.world);
    check(task);
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
      const again = `'k8sbench run-session --run ${task.run.shown}' attaches to it`;
      if (error.exit === EXIT.done) task.talk.info(`'${task.run.shown}' goes on by itself; ${again}`);
      return {
        outcome: 'running',
        exit: error.exit,
        message: error.exit === EXIT.done ? 'detached' : `${error.message}; the session goes on; ${again}`,
      };
    } finally {
      hangup.stop();
    }
  },
});

/** Delivery `image`: everything is in the image, and the copy of the log on the results claim, when there is one. */
export const image: Delivery = inCluster((task, cluster, namespace) => {
  if (task.run.json('values.json', valuesSchema).pvc === undefined) return {};
  const about = { task, cluster, namespace };
  return {
    spool: { lies: 'on a claim', read: (pod, ...rest) => readClaimCopy(about, pod, ...rest) },
  };
});
