/**
 * Delivery `bundle`: the packed bundle streams into the pod over one exec, compressed on the way. What was sent must be the
 * planned bundle, and what arrived is whole (gzip's own count and checksum); the start-up in the pod takes it only by its
 * SHA-256. The pod needs no more than sh, gzip.
 */
import { failed } from '../../../shared/failure.ts';
import { archiveSize } from '../../../shared/bundle/archive.ts';
import { compressed } from '../../../shared/bundle/compressed.ts';
import { type Contents, readBundle } from '../../../shared/bundle/contents.ts';
import { ApiError, type Cluster, ConnectionError } from '../../../shared/kubernetes.ts';
import { timeInWords } from '../../../shared/time-words.ts';
import type { Delivery, Task } from '../task.ts';
import { inCluster } from './cluster.ts';
import { BENCH, type Pod } from './objects.ts';
import type { Carrier } from './carrier.ts';

const TRIES = 6;
const PAUSE_MS = 1000;
/** For small commands, ms. */
const SHORT_MS = 60_000;
const SAY_EVERY_MS = 10_000;
/** Fastest: the stream is bound by one connection, so little compression is enough. */
const LEVEL = 1;
/** As many blocks as keep that connection busy; each takes some MB. */
const SIDE_BY_SIDE = 3;

/** What runs in the pod; `$1` is the try, so that what a broken stream left never mixes with the next. Unread input would hold the exec open. */
const RECEIVE = `cd /bundle && gzip -dc >"arriving.$1" 2>said || { IFS= read -r line <said; cat >/dev/null; echo "gzip: \${line:-it said nothing}"; exit 1; }`;
const READY = 'cd /bundle && mv "arriving.$1" bundle.tar && : >READY';

interface Place {
  task: Task;
  cluster: Cluster;
  namespace: string;
}

const run = async (
  { cluster, namespace }: Place,
  pod: Pod,
  command: string[],
  more: Partial<Parameters<Cluster['exec']>[0]> = {},
): Promise<{ status: number; output: string }> => {
  const said: Uint8Array[] = [];
  const status = await cluster.exec({
    namespace,
    pod: pod.metadata.name,
    container: BENCH,
    command,
    deadline: SHORT_MS,
    stdout: (part) => said.push(part.slice()),
    ...more,
  });
  return { status, output: Buffer.concat(said).toString().trim() };
};

const mib = (bytes: number): string => (bytes / (1 << 20)).toFixed(0);

/** One whole stream; the digest of what was sent. */
const send = async (
  place: Place,
  pod: Pod,
  contents: Contents,
  at: number,
  signal: AbortSignal,
): Promise<string> => {
  const { world, talk } = place.task;
  const total = archiveSize(contents);
  const from = performance.now();
  let sent = 0;
  let saidAt = from;
  const count = (bytes: number): void => {
    sent += bytes;
    const now = performance.now();
    if (now - saidAt < (world.stderr.isTerminal ? 1000 : SAY_EVERY_MS)) return;
    saidAt = now;
    const rate = (sent / (now - from)) * 1000;
    talk.info(
      `sending the bundle: ${mib(sent)} of ${mib(total)} MiB, ${mib(rate)} MiB/s, ${timeInWords((total - sent) / rate)} left`,
    );
  };
  const { parts, identity } = compressed(contents, { level: LEVEL, sideBySide: SIDE_BY_SIDE, count });
  const { status, output } = await run(place, pod, ['sh', '-c', RECEIVE, 'sh', String(at)], {
    stdin: parts,
    deadline: 0,
    signal,
  });
  if (status !== 0)
    throw failed(
      `the pod could not take the bundle: ${output.split('\n').at(-1) || `status ${status}`}; is its scratch space full?`,
    );
  return identity();
};

const deliver = async (place: Place, pod: Pod, signal: AbortSignal): Promise<void> => {
  const { about, talk, job, run: directory } = place.task;
  const known = await run(place, pod, ['sh', '-c', '[ -e /bundle/READY ]'], { signal }).catch(
    (error: unknown) => {
      if (error instanceof ConnectionError) return { status: 1, output: '' };
      throw error;
    },
  );
  if (known.status === 0) return;
  const contents = await readBundle(about.root!, about.root, { digests: false });
  if (contents.problems.length > 0) throw failed(contents.problems);
  for (let at = 1; ; at++)
    try {
      // Another runner's broken stream may have used the same number.
      const name = Date.now() + at;
      const digest = await send(place, pod, contents, name, signal);
      if (digest !== about.bundleSha256)
        throw failed(
          `the bundle that was sent has SHA-256 '${digest}', and '${directory.shown}' was planned with '${about.bundleSha256}'; was '${about.root}' changed? plan again`,
        );
      const { status } = await run(place, pod, ['sh', '-c', READY, 'sh', String(name)], { signal });
      if (status !== 0) throw failed(`the pod could not take the bundle: status ${status}`);
      job.note('delivered');
      return;
    } catch (error) {
      const broken = error instanceof ConnectionError && !error.final;
      const busy = error instanceof ApiError && (error.code === 429 || error.code >= 502);
      if (signal.aborted || at >= TRIES || !(broken || busy)) throw error;
      talk.warn(`${(error as Error).message}; sending the bundle again`);
      await Bun.sleep(PAUSE_MS * at);
    }
};

const spool = async (
  place: Place,
  pod: Pod,
  take: (block: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> => {
  let rest: Uint8Array = new Uint8Array();
  const { status } = await run(place, pod, ['cat', '/bundle/pod.log'], {
    signal,
    deadline: 10 * SHORT_MS,
    stdout: (part) => {
      const bytes = Buffer.concat([rest, part]);
      const whole = bytes.lastIndexOf(10) + 1;
      if (whole > 0) take(bytes.subarray(0, whole));
      rest = bytes.subarray(whole);
    },
  });
  if (status !== 0) throw failed(`the pod's own copy of the log can't be read: status ${status}`);
};

const carrier = (task: Task, cluster: Cluster, namespace: string): Carrier => {
  const place = { task, cluster, namespace };
  return {
    deliver: (pod, signal) => deliver(place, pod, signal),
    spool: {
      lies: 'in the pod',
      read: (pod, _at, take, signal) => spool(place, pod, take, signal),
    },
    acknowledge: async (pod) => void (await run(place, pod, ['sh', '-c', ': >/bundle/ACKNOWLEDGED'])),
  };
};

export const bundle: Delivery = inCluster(carrier, ({ run: directory, about }) => {
  if (about.root === undefined || about.bundleSha256 === undefined)
    throw failed(
      `'${directory.shown}' does not say which bundle it is of; plan it again with '--bundle DIR'`,
    );
});
