/** API servers that are too busy, and load balancers before them that are broken. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from './certificates.ts';
import { apply } from './fault.ts';
import type { Bed } from './session-runs.ts';
import { admin, ownDirectory } from './the-cluster.ts';

/** The real API server takes one request of a namespace's runner at a time, and answers 429 to the rest; gives what removes it. */
const oneAtATime = (namespace: string): (() => void) => {
  const metadata = { name: namespace };
  const everything = {
    verbs: ['*'],
    apiGroups: ['*'],
    resources: ['*'],
    namespaces: ['*'],
    clusterScope: true,
  };
  return apply(
    {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'PriorityLevelConfiguration',
      metadata,
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 0,
          lendablePercent: 0,
          borrowingLimitPercent: 0,
          limitResponse: { type: 'Reject' },
        },
      },
    },
    {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata,
      spec: {
        priorityLevelConfiguration: { name: namespace },
        matchingPrecedence: 50,
        distinguisherMethod: { type: 'ByUser' },
        rules: [
          {
            subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: 'runner', namespace } }],
            resourceRules: [everything],
            nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
          },
        ],
      },
    },
  );
};

/** For some time so many questions of a bed's user that its runner is mostly refused. */
export const crowd = async (bed: Bed, ms: number): Promise<void> => {
  const { users } = JSON.parse(readFileSync(bed.kubeconfig, 'utf8')) as {
    users: { user: { token: string } }[];
  };
  const remove = oneAtATime(bed.namespace);
  const until = performance.now() + ms;
  const ask = async (): Promise<void> => {
    while (performance.now() < until) {
      const answer = await fetch(`${admin.server}/apis/batch/v1/namespaces/${bed.namespace}/jobs`, {
        headers: { authorization: `Bearer ${users[0]!.user.token}` },
        tls: { ca: readFileSync(join(ownDirectory!, 'pki', 'ca.crt'), 'utf8') },
      });
      await answer.arrayBuffer();
    }
  };
  try {
    await Promise.all(Array.from({ length: 12 }, ask));
  } finally {
    remove();
  }
};

type Answer = (request: Request, forward: () => Promise<Response>) => Response | Promise<Response>;

/** A kubeconfig whose server stands before the real one and may answer instead of it. */
const before = (bed: Bed, word: string, answer: Answer): string => {
  const directory = ownDirectory!;
  makeCertificate(directory, 'balancer', { cn: 'balancer', names: 'IP:127.0.0.1' });
  const file = (name: string): string => readFileSync(join(directory, 'pki', name), 'utf8');
  const forward = (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    // As it comes: what is unpacked here would be called packed.
    headers.set('accept-encoding', 'identity');
    return fetch(admin.server + pathname + search, {
      method: request.method,
      headers,
      body: request.body,
      tls: { ca: file('ca.crt') },
      signal: request.signal,
      timeout: false,
    } as RequestInit);
  };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    tls: { cert: file('balancer.crt'), key: file('balancer.key') },
    fetch: (request) => answer(request, () => forward(request)),
  });
  server.unref();
  const path = join(bed.directory, word);
  const config = readFileSync(bed.kubeconfig, 'utf8');
  writeFileSync(path, config.replaceAll(admin.server, `https://127.0.0.1:${server.port}`));
  return path;
};

const refusals = new Map<string, number>();
/** How often the API server has answered 429 to whoever came by {@link countedServer}. */
export const refusalsOf = (bed: Bed): number => refusals.get(bed.namespace) ?? 0;
/** The real server, its refusals counted. */
export const countedServer = (bed: Bed): string =>
  before(bed, 'counted', async (_, forward) => {
    const answer = await forward();
    if (answer.status === 429) refusals.set(bed.namespace, refusalsOf(bed) + 1);
    return answer;
  });

/**
 * A load balancer that answers every third request itself, with 502, 503 or 504. A fake: a real API server can't be made to
 * say these.
 */
export const halfDeadServer = (bed: Bed): string => {
  let count = 0;
  return before(bed, 'half-dead', (_, forward) =>
    ++count % 3 === 0
      ? new Response('<html>no server</html>', { status: [502, 503, 504][(count / 3) % 3]! })
      : forward(),
  );
};

/**
 * The real server, but it reaches kubelets on loopback, which the API server refuses to (`address not allowed`, after it has
 * asked whether the user may): their own answer is fetched here, from node-1.
 */
export const reachesKubelets = (bed: Bed): string => {
  const directory = ownDirectory!;
  const file = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const { address, port } = JSON.parse(file('node-1/kubelet.yaml')) as { address: string; port: number };
  return before(bed, 'reaches-kubelets', async (request, forward) => {
    const answer = await forward();
    if (!request.url.endsWith('/proxy/configz')) return answer;
    const text = await answer.text();
    if (!text.includes('address not allowed')) return new Response(text, { status: answer.status });
    return fetch(`https://${address}:${port}/configz`, {
      tls: {
        ca: file('pki/ca.crt'),
        cert: file('pki/apiserver-kubelet.crt'),
        key: file('pki/apiserver-kubelet.key'),
      },
    });
  });
};
