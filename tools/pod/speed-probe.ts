import { execFileSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';

/**
 * Fixed work on the measured cores: the SHA-256 of 80 KiB from the first-level cache, three times, the fastest counted.
 * Native code in every runtime, so no compiler tier moves it; it takes as long as the clock says. The thread is CommonJS
 * text because both runtimes take that as it is, from a file that is bundled or not.
 */
const THREAD = `
const { workerData, parentPort } = require('node:worker_threads');
const { createHash } = require('node:crypto');
const { readlinkSync } = require('node:fs');
const cells = new Int32Array(workerData);
const result = new Float64Array(workerData, 16);
const block = new Uint8Array(16384);
const work = () => {
  const from = performance.now();
  const hash = createHash('sha256');
  for (let at = 0; at < 5; at++) hash.update(block);
  hash.digest();
  return performance.now() - from;
};
for (let at = 0; at < 50; at++) work();
parentPort.postMessage(readlinkSync('/proc/thread-self').split('/').pop());
for (let asked = 0; ; ) {
  Atomics.wait(cells, 0, asked);
  asked = Atomics.load(cells, 0);
  if (asked < 0) break;
  result[0] = Math.min(work(), work(), work());
  Atomics.store(cells, 1, asked);
  Atomics.notify(cells, 1);
}
`;

/** Longest wait for an answer, ms. */
const LONGEST_MS = 200;
const START_MS = 10_000;

export interface SpeedProbe {
  /** Time of the fixed work, µs; absent when it did not answer in time. */
  measure(): { probeUsec?: number };
  close(): void;
}

/** Starts the probe's thread and pins it where the measured processes run (`cpus` absent: unpinned). The reason when it can't. */
export const startSpeedProbe = async (
  cpus: string | undefined,
  taskset: string | undefined,
): Promise<SpeedProbe | string> => {
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
    if (cpus !== undefined && taskset !== undefined)
      execFileSync(taskset, ['-cp', cpus, thread], { stdio: 'ignore' });
  } catch (error) {
    void worker?.terminate();
    return `the speed probe can't run: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
  worker.unref();
  let asked = 0;
  return {
    measure() {
      const before = asked++;
      Atomics.store(cells, 0, asked);
      Atomics.notify(cells, 0);
      Atomics.wait(cells, 1, before, LONGEST_MS);
      return Atomics.load(cells, 1) === asked ? { probeUsec: Math.round(result[0]! * 1e6) / 1e3 } : {};
    },
    close() {
      Atomics.store(cells, 0, -1);
      Atomics.notify(cells, 0);
    },
  };
};
