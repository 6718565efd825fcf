/**
 * Delivery `bundle`: the packed bundle streams into the pod over one exec, compressed on the way. The program that takes it
 * there stands in the Job's manifest: it unpacks what arrives, and keeps it only by its SHA-256 (shared/job/start-up.ts).
 */
import { failed } from '../../../shared/failure.ts';
import { ArchiveReader, archiveSize } from '../../../shared/bundle/archive.ts';
import { type Contents, readBundle } from '../../../shared/bundle/contents.ts';
import type { Cluster } from '../../../shared/kubernetes.ts';
import {
  ACKNOWLEDGED,
  BUNDLE,
  type Compression,
  OTHER_DIGEST,
  readsZstd,
  receiving,
  SPOOL,
} from '../../../shared/job/start-up.ts';
import type { Delivery, Task } from '../task.ts';
import { awakeNow } from './awake.ts';
import { claimCarrier, inCluster } from './cluster.ts';
import { BENCH, type Pod } from './objects.ts';
import type { Carrier } from './carrier.ts';
import { redeliver } from './redeliver.ts';
import { sendingProgress } from './sending.ts';

/** For small commands, ms. */
const SHORT_MS = 60_000;
/** Between lines about how far it is: where they stay, and on a terminal, where somebody waits. */
const SAY_EVERY_MS = { kept: 10_000, seen: 1000 };
/** Bytes of the archive compressed at once. */
const BLOCK = 1 << 20;
/** The fastest ways: more compression costs more time than the bytes that it saves; zstd's costs a third of gzip's. */
const COMPRESSED: Readonly<Record<Compression, (block: Buffer<ArrayBuffer>) => Uint8Array>> = {
  gzip: (block) => Bun.gzipSync(block, { level: 1, library: 'libdeflate' }),
  zstd: (block) => Bun.zstdCompressSync(block, { level: 1 }),
};

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

/** The archive, each block a gzip member (RFC 1952 §2.2) or a zstd frame (RFC 8878 §3) of its own; `count` learns of its bytes. */
async function* members(
  contents: Contents,
  compression: Compression,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const reader = new ArchiveReader(contents);
  const block = Buffer.allocUnsafe(BLOCK);
  try {
    for (let got = reader.fill(block); got > 0; got = reader.fill(block)) {
      count(got);
      yield COMPRESSED[compression](block.subarray(0, got));
    }
  } finally {
    reader.close();
  }
}

/** One whole stream, taken and unpacked there. */
const send = async (place: Place, pod: Pod, contents: Contents, signal: AbortSignal): Promise<void> => {
  const { world, talk, about, run: directory } = place.task;
  const every = SAY_EVERY_MS[world.stderr.isTerminal ? 'seen' : 'kept'];
  const progress = sendingProgress(archiveSize(contents), awakeNow(), every);
  const count = (bytes: number): void => {
    const said = progress(bytes, awakeNow());
    if (said !== undefined) talk.info(said);
  };
  // The session refuses to run on another release than the bundle's.
  const compression = readsZstd(contents.versions['node']) ? 'zstd' : 'gzip';
  // Another runner's broken stream must not mix with this one.
  const { status, output } = await run(place, pod, receiving(world.random(8).toHex(), compression), {
    stdin: members(contents, compression, count),
    deadline: 0,
    signal,
  });
  const said = output.split('\n').at(-1)!;
  if (status === OTHER_DIGEST)
    throw failed(
      `the bundle that was sent has SHA-256 '${said}', and '${directory.shown}' was planned with '${about.bundleSha256}'; was '${about.root}' changed? plan again`,
    );
  if (status !== 0) throw failed(`the pod could not take the bundle: ${said || `status ${status}`}`);
};

/** Whether an earlier stream arrived whole, whose end was never heard of. */
const isThere = async (place: Place, pod: Pod, signal: AbortSignal): Promise<boolean> => {
  const { status } = await run(place, pod, ['sh', '-c', `[ -e ${BUNDLE}/READY ]`], { signal });
  return status === 0;
};

const deliver = async (
  place: Place,
  pod: Pod,
  contents: () => Promise<Contents>,
  signal: AbortSignal,
): Promise<void> => {
  const { talk, job, attaching } = place.task;
  const sent = await redeliver({
    isThere: () => isThere(place, pod, signal),
    send: async () => send(place, pod, await contents(), signal),
    attaching,
    talk,
    signal,
  });
  if (sent) job.note('delivered');
};

const spool = async (
  place: Place,
  pod: Pod,
  take: (block: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> => {
  let rest: Uint8Array = new Uint8Array();
  const { status } = await run(place, pod, ['cat', SPOOL], {
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

/** What is to be sent: looked at once. */
const contentsOf = ({ about }: Task): (() => Promise<Contents>) => {
  const read = async (): Promise<Contents> => {
    const contents = await readBundle(about.root!, about.root, { digests: false });
    if (contents.problems.length > 0) throw failed(contents.problems);
    return contents;
  };
  let reading: Promise<Contents> | undefined;
  return () => (reading ??= read());
};

const carrier = (task: Task, cluster: Cluster, namespace: string): Carrier => {
  const place = { task, cluster, namespace };
  const contents = contentsOf(task);
  // While the pod starts; what is wrong is told when it is sent.
  if (!task.attaching) setImmediate(() => void contents().catch(() => undefined));
  const delivers: Carrier = { deliver: (pod, signal) => deliver(place, pod, contents, signal) };
  const onClaim = claimCarrier(task, cluster, namespace);
  if (onClaim) return { ...delivers, ...onClaim };
  return {
    ...delivers,
    spool: {
      lies: 'in the pod',
      read: (pod, _at, take, signal) => spool(place, pod, take, signal),
    },
    acknowledge: async (pod) => void (await run(place, pod, ['sh', '-c', `: >${ACKNOWLEDGED}`])),
  };
};

export const bundle: Delivery = inCluster(carrier, ({ run: directory, about }) => {
  if (about.root === undefined || about.bundleSha256 === undefined)
    throw failed(
      `'${directory.shown}' does not say which bundle it is of; plan it again with '--bundle DIR'`,
    );
});
