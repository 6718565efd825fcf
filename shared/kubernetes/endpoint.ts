/** How to reach an API server: resolved from flags, kubeconfigs and environment, or from the pod that this runs in. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import type { Values } from '../../schemas/values.ts';
import { usage } from '../failure.ts';
import type { World } from '../world.ts';
import { credentialSource } from './credentials.ts';
import { type Access, readKubeconfig } from './kubeconfig.ts';
import { proxyOf } from './proxy.ts';
import type { Endpoint } from './transport.ts';

/** What of the values says how to connect. */
export type ConnectValues = Pick<Values, 'kubeconfig' | 'kubeContext'>;

/** Where a pod has the token of its own account. */
export const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A pod's own service account. */
const inCluster = (env: World['env'], directory: string): Access | undefined => {
  const [host, port] = [env['KUBERNETES_SERVICE_HOST'], env['KUBERNETES_SERVICE_PORT']];
  if (!host || !port || !existsSync(join(directory, 'token'))) return undefined;
  const namespace = join(directory, 'namespace');
  return {
    context: 'in-cluster',
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    insecure: false,
    ca: readFileSync(join(directory, 'ca.crt'), 'utf8'),
    ...(existsSync(namespace) ? { namespace: readFileSync(namespace, 'utf8').trim() } : {}),
    user: { name: 'service account', tokenFile: join(directory, 'token') },
  };
};

/** Headers from the client library's providers (oidc, gcp, azure). */
const providerHeaders = async (access: Access): Promise<Record<string, string>> => {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const library = new KubeConfig();
  library.loadFromOptions({
    clusters: [{ name: 'cluster', server: access.server, skipTLSVerify: access.insecure }],
    users: [{ name: access.user.name, authProvider: access.user.authProvider }],
    contexts: [{ name: 'context', cluster: 'cluster', user: access.user.name }],
    currentContext: 'context',
  });
  const options: { headers: Record<string, string> } = { headers: {} };
  await library.applyToHTTPSOptions(options);
  return options.headers;
};

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new DOMException('stopped', 'AbortError'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });

/** How to reach the API server, resolved; nothing is sent yet. */
export const endpointOf = (values: ConnectValues, world: World, serviceAccount: string): Endpoint => {
  const access =
    readKubeconfig({
      cwd: world.cwd,
      env: world.env,
      ...(values.kubeconfig === undefined ? {} : { kubeconfig: values.kubeconfig }),
      ...(values.kubeContext === undefined ? {} : { context: values.kubeContext }),
    }) ?? inCluster(world.env, serviceAccount);
  if (!access)
    throw usage("no kubeconfig: name it with '--kubeconfig' or KUBECONFIG, or put it at ~/.kube/config");
  if (!URL.canParse(access.server))
    throw usage(`context '${access.context}': '${access.server}' is no address of a server`);
  const url = new URL(access.server);
  // Addresses are shown, and stand in run directories.
  if (url.username !== '' || url.password !== '')
    throw usage(
      `context '${access.context}': the address of the server holds a user's name or password; give them to the user instead, as 'username' and 'password'`,
    );
  return {
    access,
    base: url.href.replace(/\/+$/, ''),
    proxy: proxyOf(url, access.proxyUrl, world.env),
    // Without an authority in the kubeconfig it is the machine's, as for kubectl.
    authorities:
      access.ca === undefined
        ? [...getCACertificates('default'), ...getCACertificates('system')]
        : [access.ca],
    source: credentialSource(access, world.env, () => world.now(), world.interrupted, providerHeaders),
    signal: world.interrupted,
    sleep,
  };
};
