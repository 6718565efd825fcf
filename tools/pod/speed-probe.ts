import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';

/**
 * Fixed work: the SHA-256 of 80 KiB from the first-level cache, three times, the fastest counted, ms. Native code in every
 * runtime, so no compiler tier moves it; it takes as long as the clock says. A thread gets its text: it uses nothing but its
 * arguments.
 */
const fastest = (hashOf: typeof createHash, block: Uint8Array): number => {
  let least = Infinity;
  for (let tries = 0; tries < 3; tries++) {
    const from = performance.now();
    const hash = hashOf('sha256');
    for (let at = 0; at < 5; at++) hash.update(block);
    hash.digest();
    least = Math.min(least, performance.now() - from);
  }
  return least;
};

const BLOCK_BYTES = 16_384;
/** Before the first one counts. */
const WARM_UPS = 17;

/** The thread is CommonJS text because both runtimes take that as it is, from a file that is bundled or not. */
const THREAD = `
const { workerData, parentPort } = require('node:worker_threads');
const { createHash } = require('node:crypto');
const { readlinkSync } = require('node:fs');
const cells = new Int32Array(workerData);
const result = new Float64Array(workerData, 16);
const block = new Uint8Array(${BLOCK_BYTES});
const fastest = ${String(fastest)};
for (let at = 0; at < ${WARM_UPS}; at++) fastest(createHash, block);
parentPort.postMessage(readlinkSync('/proc/thread-self').split('/').pop());
for (let asked = 0; ; ) {
  Atomics.wait(cells, 0, asked);
  asked = Atomics.load(cells, 0);
  if (asked < 0) break;
  result[0] = fastest(createHash, block);
  Atomics.store(cells, 1, asked);
  Atomics.notify(cells, 1);
}
`;

/** Longest wait for an answer, ms. */
const LONGEST_MS = 200;
const START_MS = 10_000;

export interface SpeedProbe {
  /** Lets it begin, where it is a thread of its own. */
  ask(): void;
  /** Time of the fixed work that was asked for, µs; absent when it did not answer in time. */
  answer(): { probeUsec?: number };
  close(): void;
}

const probed = (ms: number): { probeUsec: number } => ({ probeUsec: Math.round(ms * 1e6) / 1e3 });

/** Where this thread may run where the measured processes do: a second one would make every start on Node longer. */
export const speedProbeHere = (): SpeedProbe => {
  const block = new Uint8Array(BLOCK_BYTES);
  for (let at = 0; at < WARM_UPS; at++) fastest(createHash, block);
  return {
    ask: () => undefined,
    answer: () => probed(fastest(createHash, block)),
    close: () => undefined,
  };
};

/** Starts the probe's thread and pins it to the cores where the measured processes run. The reason when it can't. */
export const startSpeedProbe = async (cpus: string, taskset: string): Promise<SpeedProbe | string> => {
  const shared = new SharedArrayBuffer(32);
  const cells = new Int32Array(shared);
  const result = new Float64Array(shared, 16);
  let worker: Worker | undefined;
  try {
    const started = new Worker(THREAD, { eval: true, workerData: shared });
    worker = started;
    const thread = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('its thread did not start')), START_MS);
      started.once('message', (id: string) => resolve((clearTimeout(timer), id)));
      started.once('error', (error) => reject((clearTimeout(timer), error)));
    });
    execFileSync(taskset, ['-cp', cpus, thread], { stdio: 'ignore' });
  } catch (error) {
    void worker?.terminate();
    return `the speed probe can't run: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
  worker.unref();
  let asked = 0;
  return {
    ask() {
      Atomics.store(cells, 0, ++asked);
      Atomics.notify(cells, 0);
    },
    answer() {
      Atomics.wait(cells, 1, asked - 1, LONGEST_MS);
      return Atomics.load(cells, 1) === asked ? probed(result[0]!) : {};
    },
    close() {
      Atomics.store(cells, 0, -1);
      Atomics.notify(cells, 0);
    },
  };
};
