/** A cluster held in memory behind a real HTTP server: Jobs, their pods and logs, for what a real one can't be made to do. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { main as plan } from '../../tools/plan/main.ts';
import { main as render } from '../../tools/render/main.ts';
import { type RunDirectory, runDirectory } from '../../shared/rundir.ts';
import { runTool } from '../outside.ts';

/** An object as the API has it. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Thing = any;

interface Watcher {
  resource: string;
  query: URLSearchParams;
  say(type: string, object: Thing): void;
  close(): void;
}

/** A session's log of some lines: the first of them, its whole, and how it ends when it is stopped after the first. */
export const logOf = (lines: number): { begun: string; whole: string; stopped: string } => {
  const line = (fields: object): string => `${JSON.stringify(fields)}\n`;
  const sealed = (text: string): string => {
    const count = text.split('\n').length - 1;
    return line({
      t: 'end',
      seq: count,
      lines: count,
      sha256: createHash('sha256').update(text).digest('hex'),
    });
  };
  const begun = line({ t: 'facts', seq: 0 }) + line({ t: 'pin', seq: 1 });
  const rest = Array.from({ length: lines }, (_, at) => line({ t: 'note', seq: at + 2 })).join('');
  const words = line({ t: 'error', seq: 2, message: 'stopped', code: 'interrupted' });
  return {
    begun,
    whole: begun + rest + sealed(begun + rest),
    stopped: words + sealed(begun + words),
  };
};

export class FakeCluster {
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #watchers = new Set<Watcher>();
  readonly #logs = new Map<string, ReadableStreamDefaultController>();
  #version = 1;
  /** What was asked, `DELETE /apis/batch/…`. */
  readonly asked: string[] = [];
  readonly jobs = new Map<string, Thing>();
  readonly pods = new Map<string, Thing>();
  /** The node that pods land on. */
  node = 'n1';
  /** Sessions that go on until they are stopped, instead of ending at once. */
  endless = false;
  log = logOf(5);
  /** Answers in the place of the cluster; undefined: it answers itself. */
  instead: (method: string, path: string) => Response | undefined = () => undefined;

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    });
  }

  stop(): void {
    for (const one of this.#watchers) one.close();
    void this.#server.stop(true);
  }

  /** What was asked that changes something. */
  get changes(): string[] {
    return this.asked.filter((one) => !one.startsWith('GET '));
  }

  kubeconfig(directory: string, name = 'kubeconfig'): string {
    const path = join(directory, name);
    writeFileSync(
      path,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${this.#server.port}` } }],
        users: [{ name: 'u', user: { token: 't' } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'bench' } }],
        'current-context': 'x',
      }),
    );
    return path;
  }

  /** A pod of a Job, as the cluster makes it. */
  makePod(job: Thing, uid = `pod-${++this.#version}`): Thing {
    const { spec } = job.spec.template;
    const state = this.endless ? { running: {} } : { terminated: { exitCode: 0, reason: 'Completed' } };
    return this.#put('pods', this.pods, uid, {
      metadata: {
        name: `${job.metadata.name}-${uid}`,
        uid,
        labels: {
          ...job.spec.template.metadata.labels,
          'batch.kubernetes.io/controller-uid': job.metadata.uid,
        },
      },
      spec: { ...spec, nodeName: this.node },
      status: {
        phase: this.endless ? 'Running' : 'Succeeded',
        qosClass: 'Guaranteed',
        containerStatuses: [{ name: 'bench', state, imageID: 'i' }],
      },
    });
  }

  /** A Job that somebody made. */
  makeJob(manifest: Thing): Thing {
    const { name } = manifest.metadata;
    const uid = `job-${++this.#version}`;
    const status = { startTime: new Date().toISOString() };
    const job = { ...manifest, metadata: { ...manifest.metadata, uid }, status };
    return this.#put('jobs', this.jobs, name, job);
  }

  removePod(uid: string): void {
    const pod = this.pods.get(uid);
    this.pods.delete(uid);
    if (pod) this.#tell('pods', 'DELETED', pod);
  }

  #put(resource: string, all: Map<string, Thing>, key: string, object: Thing): Thing {
    object.metadata.resourceVersion = String(++this.#version);
    all.set(key, object);
    this.#tell(resource, 'ADDED', object);
    return object;
  }

  #tell(resource: string, type: string, object: Thing): void {
    for (const one of this.#watchers)
      if (one.resource === resource && fits(object, one.query)) one.say(type, object);
  }

  #answer(request: Request): Response | Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, resource = '', name, sub] =
      /\/(jobs|pods|events|nodes|version)(?:\/([^/]+))?(?:\/(log))?$/.exec(pathname) ?? [];
    if (!searchParams.has('watch')) this.asked.push(`${request.method} ${pathname}`);
    const other = this.instead(request.method, pathname);
    if (other) return other;
    if (resource === 'version') return Response.json({ major: '1', minor: '34', gitVersion: 'v1.34.0' });
    if (sub === 'log') return this.#logFor(name!, searchParams);
    const all = resource === 'jobs' ? this.jobs : resource === 'pods' ? this.pods : new Map<string, Thing>();
    if (request.method === 'POST') return this.#create(request);
    if (request.method === 'DELETE') return this.#delete(request, name!);
    if (name !== undefined) return all.has(name) ? Response.json(all.get(name)) : status(404, 'NotFound');
    if (searchParams.has('watch')) return this.#watch(resource, searchParams);
    const items = [...all.values()].filter((one) => fits(one, searchParams));
    return Response.json({ metadata: { resourceVersion: String(this.#version) }, items });
  }

  async #create(request: Request): Promise<Response> {
    const manifest = (await request.json()) as Thing;
    if (this.jobs.has(manifest.metadata.name)) return status(409, 'AlreadyExists');
    const job = this.makeJob(manifest);
    this.makePod(job);
    return Response.json(job, { status: 201 });
  }

  async #delete(request: Request, name: string): Promise<Response> {
    const { preconditions } = (await request.json()) as { preconditions: { uid: string } };
    const job = this.jobs.get(name);
    if (!job) return status(404, 'NotFound');
    if (job.metadata.uid !== preconditions.uid) return status(409, 'Conflict');
    this.jobs.delete(name);
    this.#tell('jobs', 'DELETED', job);
    for (const [uid, pod] of this.pods)
      if (pod.metadata.labels['batch.kubernetes.io/controller-uid'] === job.metadata.uid) {
        const stream = this.#logs.get(pod.metadata.name);
        gone(() => stream?.enqueue(this.log.stopped));
        gone(() => stream?.close());
        this.#logs.delete(pod.metadata.name);
        setTimeout(() => this.removePod(uid), 200);
      }
    return Response.json({});
  }

  #logFor(pod: string, query: URLSearchParams): Response {
    const all = this.endless ? this.log.begun : this.log.whole;
    const { tailLines, limitBytes } = Object.fromEntries(query);
    if (tailLines !== undefined)
      return new Response(
        all
          .split(/(?<=\n)/)
          .slice(-tailLines)
          .join('')
          .slice(0, Number(limitBytes ?? Infinity)),
      );
    if (!this.endless || query.get('follow') !== 'true') return new Response(all);
    return new Response(
      new ReadableStream({
        start: (controller) => {
          controller.enqueue(this.log.begun);
          this.#logs.set(pod, controller);
        },
      }),
    );
  }

  #watch(resource: string, query: URLSearchParams): Response {
    let watcher: Watcher;
    return new Response(
      new ReadableStream({
        start: (controller) => {
          watcher = {
            resource,
            query,
            say: (type, object) => gone(() => controller.enqueue(`${JSON.stringify({ type, object })}\n`)),
            close: () => gone(() => controller.close()),
          };
          this.#watchers.add(watcher);
        },
        cancel: () => void this.#watchers.delete(watcher),
      }),
    );
  }
}

/** Does something with a stream whose reader may have gone away. */
const gone = (act: () => void): void => {
  try {
    act();
  } catch {
    // It has.
  }
};

const status = (code: number, reason: string): Response =>
  Response.json({ kind: 'Status', code, reason, message: reason }, { status: code });

/** Whether an object is in the scope of a list. */
const fits = ({ metadata }: Thing, query: URLSearchParams): boolean => {
  const [, field] = /^metadata\.name=(.*)$/.exec(query.get('fieldSelector') ?? '') ?? [];
  if (field !== undefined && metadata.name !== field) return false;
  const labels = (query.get('labelSelector') ?? '').split(/,(?![^(]*\))/).filter(Boolean);
  return labels.every((one) => {
    const [, among, list] = /^(\S+) in \((.*)\)$/.exec(one) ?? [];
    if (among !== undefined) return list!.split(',').includes(metadata.labels?.[among]);
    const [key, value] = one.split('=') as [string, string];
    return metadata.labels?.[key] === value;
  });
};

/** A run for that cluster, planned and rendered. */
export const plannedFor = async (
  directory: string,
  name: string,
  kubeconfig: string,
  ...words: string[]
): Promise<RunDirectory> => {
  const outside = { cwd: directory, env: { KUBECONFIG: kubeconfig } };
  const image = `localhost/x@sha256:${'a'.repeat(64)}`;
  const asked = ['--namespace', 'bench', '--image', image, '--turns', '50', '--rounds', '3', ...words];
  for (const [tool, args] of [
    [plan, ['--run', name, '--profile', 'durable-store', ...asked]],
    [render, ['--run', name]],
  ] as const) {
    const { exit, stderr } = await runTool(tool, args, outside);
    if (exit !== 0) throw new Error(stderr);
  }
  return runDirectory(join(directory, name), name);
};
