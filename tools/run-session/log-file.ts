/** pod.log while it is written: pod.log.partial gets each byte as it arrives and becomes pod.log once it is verified whole. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync } from 'node:fs';
import { writeAll } from '../../shared/files.ts';
import type { RunDirectory } from '../../shared/rundir.ts';
import { type LogState, SessionLog, type SessionLine } from '../../shared/session-log.ts';

export const LOG = 'pod.log';
export const PARTIAL = 'pod.log.partial';
/** Lines beyond a gap of pod.log.partial, which nobody reads but people. */
export const REST = 'pod.log.rest';

/**
 * Between two of these the log is safe from a killed runner, not from a machine that loses power: fsync more often would
 * meet the measured processes on the same disk.
 */
const SYNC_EVERY_MS = 15_000;

export interface PartialLog {
  write(part: Uint8Array): void;
  /** Everything written is on the disk; `whole` gives it its final name. */
  close(whole: boolean): void;
}

export const openPartialLog = (run: RunDirectory): PartialLog => {
  const path = run.file(PARTIAL);
  const fd = openSync(path, 'wx', 0o666);
  let synced = performance.now();
  return {
    write(part) {
      try {
        writeAll(fd, part);
      } catch (error) {
        // An error of a descriptor does not say which file it is about.
        throw Object.assign(error as Error, { path });
      }
      if (performance.now() - synced < SYNC_EVERY_MS) return;
      fsyncSync(fd);
      synced = performance.now();
    },
    close(whole) {
      fsyncSync(fd);
      closeSync(fd);
      if (whole) renameSync(path, run.file(LOG));
    },
  };
};

/**
 * Keeps the log of an earlier attempt under a name of its own, `pod.log.<outcome>-<n>`, and its lines beyond a gap under that
 * with `.rest`: what was measured is never thrown away. Returns the names; empty when there was none.
 */
export const setLogsAside = (run: RunDirectory, outcome: string): string[] => {
  const aside: string[] = [];
  const freeName = (): string => {
    let at = 1;
    while (run.has(`${LOG}.${outcome}-${at}`) || run.has(`${LOG}.${outcome}-${at}.rest`)) at++;
    return `${LOG}.${outcome}-${at}`;
  };
  const move = (name: string, to: string): void => {
    renameSync(run.file(name), run.file(to));
    aside.push(to);
  };
  for (const name of [LOG, PARTIAL].filter((one) => run.has(one))) move(name, freeName());
  if (run.has(REST)) move(REST, `${aside.at(-1) ?? freeName()}.rest`);
  return aside;
};

/** A log that is saved already, read again by a later runner. */
export const savedLog = (run: RunDirectory): { state: LogState; error: SessionLine | undefined } => {
  const log = new SessionLog();
  let error: SessionLine | undefined;
  log.feedBlock(readFileSync(run.file(LOG)), (line) => void (line.t === 'error' && (error = line)));
  return { state: log.state(), error };
};
