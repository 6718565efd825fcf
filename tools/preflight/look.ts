/** Asks the cluster everything that findings are made of. Makes nothing: what is created is created as a dry run. */
import type { AdmittedPod } from '../../shared/admitted-pod.ts';
import { type Cluster, ConnectionError } from '../../shared/kubernetes.ts';
import { tallyOf } from '../../shared/nodes/live.ts';
import { parseReference } from '../../shared/registry/reference.ts';
import type { World } from '../../shared/world.ts';
import { type Answer, answerOf, isKnown } from './answer.ts';
import type { Asked } from './asked.ts';
import { holderOf, isPinned, mayPull } from './holders.ts';
import type { LimitRange } from './limits.ts';
import type { Quota } from './quota.ts';
import { askRegistry } from './registry.ts';
import { execAllowed, nameOf, type Right, rightsOf, TRY_POD } from './rights.ts';
import type { NamespaceObject, Seen } from './seen.ts';
import type { Version } from './server.ts';

const mayI = async (cluster: Cluster, namespace: string, right: Right): Promise<boolean | undefined> => {
  const { verb, group, resource, subresource, everywhere } = right;
  const answer = await answerOf(
    cluster.create<{ status: { allowed: boolean } }>(
      'selfsubjectaccessreviews',
      {},
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: {
          resourceAttributes: {
            verb,
            group,
            resource,
            ...(subresource ? { subresource } : {}),
            ...(everywhere ? {} : { namespace }),
          },
        },
      },
    ),
  );
  return isKnown(answer) ? answer.value.status.allowed : undefined;
};

/** The pod that the Job's controller would make. */
const podOf = ({ manifest }: Asked): object => {
  const { metadata, spec } = manifest as {
    metadata: { name: string };
    spec: { template: { metadata: object; spec: object } };
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...spec.template.metadata, name: `${metadata.name}-preflight` },
    spec: spec.template.spec,
  };
};

/** A pod that is not there: the answer tells whether the request got so far. */
const NO_POD = 'k8sbench-preflight-no-such-pod';
const EXEC_MS = 15_000;

const tryExec = async (
  cluster: Cluster,
  namespace: string,
  mayWatch: boolean,
): Promise<NonNullable<Seen['exec']>> => {
  try {
    const answer = await answerOf(
      cluster.exec({
        namespace,
        pod: NO_POD,
        container: 'bench',
        command: ['true'],
        deadline: EXEC_MS,
      }),
    );
    return mayWatch && !(await cluster.webSocketOpens(namespace)) ? { noWebSocket: true } : answer;
  } catch (error) {
    if (error instanceof ConnectionError) return { broken: error.message };
    throw error;
  }
};

const secretNames = ({ values }: Asked): string[] =>
  (values.imagePullSecrets ?? []).map((one) => (typeof one === 'string' ? one : one.name));

/** The lists of nodes and pods; of the image no more than who has it, and where somebody may have to pull it, its registry. */
const lookAtNodes = async (
  cluster: Cluster,
  asked: Asked,
  world: World,
): Promise<Pick<Seen, 'nodes' | 'holders' | 'pull'>> => {
  const holders = new Set<string>();
  const holds = holderOf(asked.image);
  const nodes = await answerOf(
    tallyOf(cluster, asked.namespace, (node) => {
      if (holds(node)) holders.add(node.metadata.name);
    }),
  );
  const seen = { nodes, holders };
  return mayPull(asked, seen) ? { ...seen, pull: await askRegistry(asked.image, world) } : seen;
};

/** Everything at once: some twenty small requests, the lists of nodes and pods, and then the image's registry. */
export const lookAt = async (cluster: Cluster, asked: Asked, world: World): Promise<Seen> => {
  const { namespace, values, delivery } = asked;
  const versionAnswer = await answerOf<Version>(cluster.version());
  const version = isKnown(versionAnswer) ? versionAnswer.value : undefined;
  const rights = new Map(
    await Promise.all(
      rightsOf(asked).map(async (right) => [nameOf(right), await mayI(cluster, namespace, right)] as const),
    ),
  );
  const dryRun = <T>(resource: 'jobs' | 'pods', body: object): Promise<Answer<T>> =>
    answerOf(cluster.create<T>(resource, { namespace }, body, { dryRun: true }));
  const [inNamespace, quotas, limits, job, pod, nodes, claim, serviceAccount, exec, secrets] =
    await Promise.all([
      answerOf<NamespaceObject>(cluster.get('namespaces', { name: namespace })),
      answerOf(cluster.list<Quota>('resourcequotas', { namespace })),
      answerOf(cluster.list<LimitRange>('limitranges', { namespace })),
      rights.get('create jobs') === false ? undefined : dryRun('jobs', asked.manifest),
      mayI(cluster, namespace, TRY_POD).then((may) =>
        may === true ? dryRun<AdmittedPod>('pods', podOf(asked)) : undefined,
      ),
      lookAtNodes(cluster, asked, world),
      values.pvc === undefined
        ? undefined
        : answerOf<object>(cluster.get('persistentvolumeclaims', { namespace, name: values.pvc })),
      values.serviceAccountName === undefined
        ? undefined
        : answerOf<object>(cluster.get('serviceaccounts', { namespace, name: values.serviceAccountName })),
      delivery === 'bundle' && execAllowed(asked, version, rights)
        ? tryExec(cluster, namespace, rights.get('watch pods') === true)
        : undefined,
      Promise.all(
        secretNames(asked).map(
          async (name) =>
            [name, await answerOf<object>(cluster.get('secrets', { namespace, name }))] as const,
        ),
      ),
    ]);
  return {
    version,
    rights,
    quotas,
    limits,
    job,
    pod,
    ...nodes,
    namespace: inNamespace,
    secrets: new Map(secrets),
    ...(claim ? { claim } : {}),
    ...(serviceAccount ? { serviceAccount } : {}),
    ...(exec ? { exec } : {}),
  };
};

/** For `--dry-run`: what would be asked of whom. */
export const wouldAsk = (cluster: Cluster, asked: Asked): object => ({
  server: cluster.server,
  context: cluster.context,
  namespace: asked.namespace,
  asks: [
    'its release',
    ...rightsOf(asked).map((right) => `may I ${nameOf(right)}`),
    `may I ${nameOf(TRY_POD)}`,
    'the namespace, its resourcequotas and limitranges',
    'nodes, and pods in all namespaces; where that is forbidden, pods in the namespace',
    ...(isPinned(asked.image)
      ? [
          `registry '${parseReference(asked.image).registry}' for '${asked.image}', unless every node that fits has it`,
        ]
      : []),
    ...secretNames(asked).map((name) => `secret '${name}'`),
    ...(asked.values.pvc === undefined ? [] : [`claim '${asked.values.pvc}'`]),
    ...(asked.values.serviceAccountName === undefined
      ? []
      : [`service account '${asked.values.serviceAccountName}'`]),
    ...(asked.delivery === 'bundle'
      ? [`exec into '${NO_POD}', which is not there, and a watch, by WebSocket`]
      : []),
  ],
  tries: ['the Job as a dry run', 'its pod as a dry run, where pods may be created'],
});
