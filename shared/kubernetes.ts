/**
 * Access to Kubernetes as kubectl has it: one connection, resolved once from flags, kubeconfigs and environment, the same
 * for requests, watches, logs and exec.
 *
 * Why these are small readers of our own and not `@kubernetes/client-node` (1.4.0; 2.0.1 drops certificates on this runtime):
 * - loading it costs 180–280 ms and 35 MiB before a word is sent, and its models take 2.8 s for 30,000 pods where
 *   JSON.parse takes 0.4 s; pick-nodes may take 1.3 times the latter;
 * - kubeconfigs: it refuses two files that name one cluster (kubectl: the first counts), tells exec plugins nothing
 *   (KUBERNETES_EXEC_INFO, interactiveMode, cluster), and does not ask them again after 401;
 * - requests go past `proxy-url`, exec past HTTPS_PROXY; a quiet watch or log is cut after 360 s, and a cut one may end the process;
 * - exec: stdin without back-pressure (200 MB: 261 MB resident), no half-close, no end when the socket closes without a status.
 * What it does better than we could is kept, loaded late: credential providers of old kubectls (oidc, gcp, azure).
 */
import { type ConnectValues, endpointOf, SERVICE_ACCOUNT } from './kubernetes/endpoint.ts';
import { type Command, exec, webSocketOpens } from './kubernetes/exec.ts';
import { listPages, watch, type WatchEvent, type WatchTimes } from './kubernetes/listing.ts';
import { type LogOf, readLog } from './kubernetes/log.ts';
import { type KubernetesObject, pathOf, type Resource, type Scope } from './kubernetes/objects.ts';
import { isNotFound, isStatus } from './kubernetes/api-error.ts';
import { send, sendForJson } from './kubernetes/transport.ts';
import type { World } from './world.ts';

export {
  ApiError,
  ConnectionError,
  isForbidden,
  isNotFound,
  isStatus,
  lacksRight,
} from './kubernetes/api-error.ts';
export { isNotStarted, type LogOf } from './kubernetes/log.ts';
export type { Command, ConnectValues, KubernetesObject, Resource, Scope, WatchEvent, WatchTimes };

/** One object in a namespace, or of the cluster. */
export interface Place {
  namespace?: string;
  name: string;
  subresource?: string;
}

/** A cluster that can be asked. Every method throws Failures in words: ApiError when the server refused, ConnectionError when it did not answer. */
export interface Cluster {
  /** Address and context, for messages. */
  readonly server: string;
  readonly context: string;
  /** The context's namespace, when it names one. */
  readonly namespace: string | undefined;
  version(): Promise<{ major: number; minor: number; gitVersion: string }>;
  get<T extends KubernetesObject>(resource: Resource, at: Place): Promise<T>;
  list<T>(resource: Resource, scope: Scope): Promise<T[]>;
  /** Long lists; see {@link listPages}. */
  listPages<T>(
    resource: Resource,
    scope: Scope,
    fresh: () => void,
    take: (items: T[]) => void,
    limit?: number,
  ): Promise<string>;
  /** `body` is an object, or a manifest's YAML text. Never sent twice unless the server was too busy to take it. */
  create<T>(
    resource: Resource,
    at: { namespace?: string; name?: string; subresource?: string },
    body: object | string,
    options?: { dryRun?: boolean },
  ): Promise<T>;
  /**
   * Server-side apply, as `manager`: makes the object, or changes what of it the manager owns. What another manager set
   * otherwise is a conflict (409), never overwritten.
   */
  apply<T extends KubernetesObject>(
    resource: Resource,
    at: Place,
    body: object,
    options: { manager: string; dryRun?: boolean },
  ): Promise<T>;
  /** A JSON merge patch. */
  patch<T extends KubernetesObject>(resource: Resource, at: Place, body: object): Promise<T>;
  /** Deletes the object with this UID, pods of a Job included; false when it is gone already, or another has its name now. */
  delete(resource: Resource, at: Place, uid: string, options?: { graceSeconds?: number }): Promise<boolean>;
  watch<T extends KubernetesObject>(
    resource: Resource,
    scope: Scope,
    signal: AbortSignal,
    times?: WatchTimes,
  ): AsyncGenerator<WatchEvent<T>>;
  log(of: LogOf, signal: AbortSignal): AsyncGenerator<Uint8Array>;
  exec(command: Command): Promise<number>;
  webSocketOpens(namespace: string): Promise<boolean>;
}

/** What a request is about, for its error. */
const about = (
  verb: string,
  resource: Resource,
  at: { namespace?: string; name?: string; subresource?: string },
) => ({
  verb,
  resource: at.subresource === undefined ? resource : `${resource}/${at.subresource}`,
  ...(at.namespace === undefined ? {} : { namespace: at.namespace }),
  ...(at.name === undefined ? {} : { name: at.name }),
});

/**
 * Resolves how to reach the API server that the values, the environment and the kubeconfigs name. Contacts nothing; what
 * can't work (no kubeconfig, an unknown context, a proxy that can't carry everything) is refused here.
 */
export const connect = (
  values: ConnectValues,
  world: World,
  { serviceAccount = SERVICE_ACCOUNT }: { serviceAccount?: string } = {},
): Cluster => {
  const endpoint = endpointOf(values, world, serviceAccount);
  return {
    server: endpoint.base,
    context: endpoint.access.context,
    namespace: endpoint.access.namespace,
    async version() {
      const found = await sendForJson<{ major: string; minor: string; gitVersion: string }>(endpoint, {
        about: { verb: 'get', resource: 'version' },
        path: '/version',
      });
      // Some clouds write the minor version as `34+`.
      return {
        major: Number.parseInt(found.major, 10),
        minor: Number.parseInt(found.minor, 10),
        gitVersion: found.gitVersion,
      };
    },
    get: (resource, at) =>
      sendForJson(endpoint, { about: about('get', resource, at), path: pathOf(resource, at) }),
    async list<T>(resource: Resource, scope: Scope) {
      const all: T[] = [];
      await listPages<T>(
        endpoint,
        resource,
        scope,
        () => all.splice(0),
        (items) => all.push(...items),
      );
      return all;
    },
    listPages: (...asked) => listPages(endpoint, ...asked),
    create: (resource, at, body, { dryRun = false } = {}) =>
      sendForJson(endpoint, {
        about: about('create', resource, at),
        path: pathOf(resource, at, { dryRun: dryRun ? 'All' : undefined }),
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(typeof body === 'string' ? { contentType: 'application/yaml' } : {}),
      }),
    apply: (resource, at, body, { manager, dryRun = false }) =>
      sendForJson(endpoint, {
        about: about('apply', resource, at),
        path: pathOf(resource, at, { fieldManager: manager, dryRun: dryRun ? 'All' : undefined }),
        method: 'PATCH',
        body: JSON.stringify(body),
        contentType: 'application/apply-patch+yaml',
      }),
    patch: (resource, at, body) =>
      sendForJson(endpoint, {
        about: about('patch', resource, at),
        path: pathOf(resource, at),
        method: 'PATCH',
        body: JSON.stringify(body),
        contentType: 'application/merge-patch+json',
      }),
    async delete(resource, at, uid, { graceSeconds } = {}) {
      try {
        await send(endpoint, {
          about: about('delete', resource, at),
          path: pathOf(resource, at),
          method: 'DELETE',
          body: JSON.stringify({
            preconditions: { uid },
            propagationPolicy: 'Background',
            ...(graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
          }),
        }).then((answer) => answer.arrayBuffer());
        return true;
      } catch (error) {
        if (isNotFound(error) || isStatus(error, 409)) return false;
        throw error;
      }
    },
    watch: (resource, scope, signal, times) => watch(endpoint, resource, scope, signal, times),
    log: (of, signal) => readLog(endpoint, of, signal),
    exec: (command) => exec(endpoint, command),
    webSocketOpens: (namespace) => webSocketOpens(endpoint, namespace),
  };
};
