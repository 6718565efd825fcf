/** Follows a session's log as it arrives: keeps it, verifies it, and shows how far it is. */
import { linesOf } from '../../shared/line-blocks.ts';
import { type LogState, SessionLog, type SessionLine } from '../../shared/session-log.ts';
import type { Live } from './live.ts';
import { openPartialLog } from './log-file.ts';
import { Progress } from './progress.ts';
import type { Task } from './task.ts';

export interface Followed {
  log: LogState;
  /** The log's `error` line. */
  error: SessionLine | undefined;
}

/** A stream that breaks off ends; whether the log is whole is decided by its end line. */
const untilItBreaks = async function* (stream: AsyncIterable<Uint8Array>, keep: (part: Uint8Array) => void) {
  const parts = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = await parts.next().catch(() => ({ done: true as const, value: undefined }));
    if (next.done) return;
    keep(next.value);
    yield next.value;
  }
};

/** Reads the log to its end into pod.log.partial; pod.log is its name once it is whole. */
export const followLog = async (
  { run, plan, job, world }: Task,
  stream: AsyncIterable<Uint8Array>,
  live: Live,
): Promise<Followed> => {
  const file = openPartialLog(run);
  const log = new SessionLog();
  const progress = new Progress(plan);
  let error: SessionLine | undefined;
  let whole = false;
  try {
    for await (const raw of linesOf(untilItBreaks(stream, file.write))) {
      const line = log.feed(raw);
      if (!line) continue;
      if (line.t === 'error') error = line;
      if (line.t === 'pin') job.note('measuring');
      if (progress.take(line, world.now())) live.show(() => progress.view(), world.now());
    }
    whole = log.state().complete;
  } finally {
    file.close(whole);
    live.end(progress.view(), world.now());
  }
  return { log: log.state(), error };
};
