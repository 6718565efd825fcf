/** The step itself: logs in, files out, one finished analysis. */
import type { Analysis } from '../../schemas/analysis.ts';
import type { Attempt } from '../../schemas/attempt.ts';
import type { Calibration } from '../../schemas/calibration.ts';
import { readAttempts, recordAttempt } from '../../shared/attempts.ts';
import { EXIT } from '../../shared/exit.ts';
import { Failure, failed } from '../../shared/failure.ts';
import { streamAtomically } from '../../shared/files.ts';
import { calibrationAnalysis, comparisonAnalysis, type Result, runId, unjudgedAnalysis } from './analysis.ts';
import { type Hashes, hashesFor } from './background-hash.ts';
import { earlierAttempts, type Ending, endingOf, type How, outcomeOf } from './endings.ts';
import { envText } from './env-text.ts';
import { refusedOf } from './evidence.ts';
import { likeForLike } from './like-for-like.ts';
import { removeOutputs } from './output-files.ts';
import { inputsBesideLogs, writeOutputs } from './outputs.ts';
import { refuseMisuse, type Request } from './request.ts';
import { Rows } from './rows.ts';
import { readSession, Session } from './session.ts';
import type { ReadSession, Source } from './sources.ts';

/** What is wrong with one log: with its content, and with its place. */
const problemsOf = ({ run, sha256 }: Source, data: Session): string[] => [
  ...data.problems,
  ...(run !== undefined && data.facts && data.facts.run !== run
    ? [`${data.place}: it is the log of run '${data.facts.run}', and this is run '${run}'`]
    : []),
  ...(sha256 !== undefined && data.log?.fileSha256 !== sha256
    ? [`${data.place}: it is not the log that the finished session wrote: MANIFEST.sha256 has another digest`]
    : []),
];

/** A session with what everything needs. Forensics takes a log that ended before its pin line as not pinned. */
const completed = (source: Source, data: Session): ReadSession | undefined => {
  const { facts, profile } = data;
  if (!facts || !profile) return undefined;
  const pin = data.pin ?? {
    t: 'pin',
    seq: 0,
    idle: {},
    method: 'none',
    cpus: '',
    gomaxprocs: facts.requestedCpus,
    governors: {},
    fixedClock: false,
  };
  return { source, data, facts, pin, profile };
};

/** Why the run must not be judged, whatever its numbers say. */
const invalidOf = (sources: readonly Source[], sessions: readonly Session[]): string[] =>
  sessions.flatMap((data, at) => {
    const said = data.error?.invalid ? data.error.message : sources[at]!.invalid;
    return said === undefined ? [] : [`${data.place}: ${said}`];
  });

/** Reads every log of the run. Yields the sample rows; ends with an error when nothing may be computed from the logs. */
async function* readAll(
  request: Request,
  sessions: Session[],
  rows: Rows | undefined,
  hashes: Hashes,
  interrupted: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { run, settings } = request;
  for (const source of run.sources) {
    const session = new Session(source.place);
    sessions.push(session);
    for await (const _ of readSession(source.open(), session, rows, hashes.next())) {
      if (interrupted.aborted) throw new Failure(EXIT.interrupted, 'interrupted; nothing was analyzed');
      if (rows) yield rows.take();
    }
  }
  const mode = sessions[0]?.facts?.mode;
  if (mode) refuseMisuse(request, mode);
  const problems = run.sources.flatMap((source, at) => problemsOf(source, sessions[at]!));
  const readable = run.sources.every((source, at) => completed(source, sessions[at]!));
  const invalid = invalidOf(run.sources, sessions);
  if (problems.length === 0 || (readable && (settings.allowIncomplete || invalid.length > 0))) return;
  if (invalid.length > 0) throw new Failure(EXIT.invalid, [...new Set([...invalid, ...problems])]);
  throw failed(problems);
}

const resultOf = (
  request: Request,
  sessions: readonly ReadSession[],
  inputs: Record<string, string>,
  earlier: (outcome: Attempt['outcome']) => Analysis['earlierAttempts'],
): Result => {
  const { run } = request;
  const data = sessions.map((one) => one.data);
  const invalid = invalidOf(run.sources, data);
  if (invalid.length > 0) return unjudgedAnalysis(request, sessions, inputs, { invalid });
  const incomplete = [...run.missing, ...sessions.flatMap((one) => problemsOf(one.source, one.data))];
  const different = likeForLike(sessions);
  if (incomplete.length > 0)
    return unjudgedAnalysis(request, sessions, inputs, { incomplete: [...incomplete, ...different] });
  if (different.length > 0) throw failed(different);
  if (sessions[0]!.facts.mode === 'compare')
    return comparisonAnalysis(request, sessions, inputs, (outcome) => refusedOf(earlier(outcome)));
  return calibrationAnalysis(request, sessions, inputs);
};

/** How a reading ends that says nothing against what was computed before. */
const STILL_HOLD: ReadonlySet<number> = new Set([EXIT.interrupted, EXIT.usage]);

/** Reads the logs, the sample rows on their way into results.jsonl; gives their digest. */
const readInto = async (
  request: Request,
  data: Session[],
  rows: Rows,
  interrupted: AbortSignal,
): Promise<string> => {
  const { directory } = request.run;
  const hashes = hashesFor(request.run.sources);
  const hash = hashes.next();
  const parts = async function* (): AsyncGenerator<Uint8Array> {
    for await (const part of readAll(request, data, directory ? rows : undefined, hashes, interrupted)) {
      hash.update(part);
      yield part;
    }
  };
  try {
    if (directory) await streamAtomically(directory.file('results.jsonl'), parts());
    else for await (const _ of parts());
    return hash.digest('hex');
  } catch (error) {
    // What stood there came from logs that are no longer these, or no longer readable.
    if (directory && error instanceof Failure && !STILL_HOLD.has(error.exit)) removeOutputs(directory);
    throw error;
  } finally {
    hashes.close();
  }
};

/**
 * Reads, computes and writes. A run whose targets did not do like for like ends with an error: its rows and ENV.txt are
 * there to be looked at, and no outputs of before that no longer hold.
 */
export const analyze = async (
  request: Request,
  interrupted: AbortSignal,
): Promise<{ analysis: Analysis; calibration: Calibration | undefined }> => {
  const { directory, isChild, ofSeveral, sources } = request.run;
  const data: Session[] = [];
  const rows = new Rows(ofSeveral);
  const rowsSha256 = await readInto(request, data, rows, interrupted);
  const sessions = sources.map((source, at) => completed(source, data[at]!)!);
  const inputs = {
    ...(await inputsBesideLogs(request)),
    ...Object.fromEntries(sources.map(({ input }, at) => [input, data[at]!.log!.fileSha256])),
  };
  const recorded = directory && !isChild ? directory : undefined;
  const run = runId(request, sessions);
  const texts = { rowsSha256, seeds: rows.seeds, env: envText(sessions) };
  if (directory) removeOutputs(directory, ['noise.json', 'calibration.json', 'analysis.json']);
  const ending = (how: How): Ending => endingOf(sessions[0]!, run, how);
  const before = recorded ? readAttempts(recorded) : [];
  const earlier = (outcome: Attempt['outcome']): Analysis['earlierAttempts'] =>
    recorded ? earlierAttempts(before, ending({ outcome, exit: EXIT.done, reasons: [] })) : undefined;
  let result: Result;
  try {
    result = resultOf(request, sessions, inputs, earlier);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    directory?.write('seeds.jsonl', texts.seeds);
    directory?.write('ENV.txt', texts.env);
    const how = { outcome: 'failed' as const, exit: error.exit, reasons: [...error.problems] };
    if (recorded && error.exit === EXIT.failed) recordAttempt(recorded, ending(how));
    throw error;
  }
  const { analysis } = result;
  const how = { outcome: outcomeOf(analysis), exit: analysis.exit, reasons: analysis.reasons };
  // Before analysis.json, with which the step counts as done: a kill between the two must not lose the attempt.
  if (recorded && !analysis.incomplete) recordAttempt(recorded, ending(how));
  const attempts = earlier(how.outcome);
  const finished = writeOutputs(directory, result, { ...texts, ...(attempts ? { earlier: attempts } : {}) });
  return { analysis: finished, calibration: result.calibration };
};
