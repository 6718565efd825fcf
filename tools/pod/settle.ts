import { spawn } from 'node:child_process';
import type { Machine, Reread } from '../../shared/machine.ts';

/** Dirty pages up to this many bytes don't disturb the next sample. */
const ENOUGH_BYTES = 4 << 20;
/** Longest wait for the disk, ms; on a shared machine others keep it busy. */
const LONGEST_MS = 5000;

const kib = (meminfo: string, name: string): number | undefined => {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(meminfo);
  return found ? Number(found[1]) : undefined;
};

/** Bytes that wait to be written to disk; absent when the machine doesn't say. */
export const dirtyBytes = (meminfo: string | undefined): number | undefined => {
  const [dirty, writeback] = [kib(meminfo ?? '', 'Dirty'), kib(meminfo ?? '', 'Writeback')];
  return dirty === undefined || writeback === undefined ? undefined : (dirty + writeback) * 1024;
};

/**
 * `sync -f` on the file system of a directory. Resolves when it is done or can't be started; at the limit it is killed, and its
 * end is waited for, because the next step must run alone. When the session must stop, at once.
 */
const syncFileSystem = (directory: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn('sync', ['-f', directory], { stdio: 'ignore' });
    const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve();
    };
    const stop = (): void => {
      child.kill('SIGKILL');
      end();
    };
    signal.addEventListener('abort', stop, { once: true });
    child.once('exit', end);
    child.once('error', end);
  });

/** Lets what the last step wrote reach the disk before the next one starts, so that no sample pays for another's writes. */
export class Settle {
  #meminfo: Reread;
  #data: string;

  constructor(machine: Machine, data: string) {
    this.#meminfo = machine.open('/proc/meminfo');
    this.#data = data;
  }

  /** How long it took, ms, and what was dirty before, bytes; empty when the machine doesn't say what is dirty. */
  async wait(signal: AbortSignal): Promise<{ settleMs?: number; dirtyBytes?: number }> {
    const from = performance.now();
    const dirty = dirtyBytes(this.#meminfo.text());
    if (dirty === undefined) return {};
    if (dirty > ENOUGH_BYTES) await syncFileSystem(this.#data, signal);
    return { settleMs: Math.round((performance.now() - from) * 1e3) / 1e3, dirtyBytes: dirty };
  }

  close(): void {
    this.#meminfo.close();
  }
}
