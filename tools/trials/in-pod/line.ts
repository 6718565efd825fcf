/**
 * The result line of a trial. The gate makes it: names and numbers of the trial are its own, and of what the trial reports
 * it takes only what has the right form.
 */
import type { Fault, TrialLine } from '../../../schemas/trial-line.ts';

/** What the gate knows of its trial. */
export type About = Pick<TrialLine, 'task' | 'arm' | 'attempt' | 'model' | 'image'>;

/** What the trial reports. */
export type Report = Omit<TrialLine, 't' | keyof About>;

/** Nothing was measured. */
export const NOTHING: Report = {
  reward: null,
  agentExit: null,
  agentWallMs: null,
  agentCpuMs: null,
  assistantMessages: null,
  usage: null,
  verifierExit: null,
  verifierWallMs: null,
};

/** Longest texts, characters: a line must fit into a termination message (4096 bytes). */
const ERROR = 600;
const AGENT_ERROR = 1200;
const NOTES = 4;
const NOTE = 160;
/** What the kubelet keeps of a termination message, bytes. */
const LARGEST_MESSAGE = 4096;

const number = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
const whole = (value: unknown): number | null => {
  const found = number(value);
  return found !== null && Number.isSafeInteger(found) ? found : null;
};

/** A text of foreign origin: bounded, on one line, nothing in it that a terminal obeys. */
export const tame = (text: string, most: number): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, ' ')
    .trim()
    .slice(-most)
    .toWellFormed();

const usageOf = (value: unknown): Report['usage'] => {
  if (typeof value !== 'object' || value === null) return null;
  const all = value as Record<string, unknown>;
  const [input, output, cacheRead, cacheWrite] = ['input', 'output', 'cacheRead', 'cacheWrite'].map((key) =>
    whole(all[key]),
  );
  if (input == null || output == null || cacheRead == null || cacheWrite == null) return null;
  return { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite };
};

const FAULTS: readonly Fault[] = ['agent', 'arm', 'verifier', 'infrastructure'];

/** A report as it came, each part taken when it has its form. A reward counts only without an error. */
export const reportOf = (value: unknown): Report => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ...NOTHING, error: 'the trial reported nothing that can be read', fault: 'infrastructure' };
  const all = value as Record<string, unknown>;
  const text = (key: string, most: number): string | undefined =>
    typeof all[key] === 'string' && all[key] !== '' ? tame(all[key], most) : undefined;
  const error = text('error', ERROR);
  const given = all['reward'];
  const reward = error === undefined && typeof given === 'number' && Number.isFinite(given) ? given : null;
  const agentError = text('agentError', AGENT_ERROR);
  const notes = (Array.isArray(all['notes']) ? all['notes'] : [])
    .filter((one): one is string => typeof one === 'string' && one !== '')
    .slice(0, NOTES)
    .map((one) => tame(one, NOTE));
  return {
    reward,
    agentExit: whole(all['agentExit']),
    agentWallMs: number(all['agentWallMs']),
    agentCpuMs: number(all['agentCpuMs']),
    assistantMessages: whole(all['assistantMessages']),
    usage: usageOf(all['usage']),
    verifierExit: whole(all['verifierExit']),
    verifierWallMs: number(all['verifierWallMs']),
    ...(reward === null
      ? {
          error: error ?? 'the trial reported neither a reward nor why there is none',
          fault: FAULTS.find((one) => one === all['fault']) ?? 'infrastructure',
        }
      : {}),
    ...(agentError === undefined ? {} : { agentError }),
    ...(all['agentTimedOut'] === true ? { agentTimedOut: true } : {}),
    ...(notes.length === 0 ? {} : { notes }),
  };
};

/** The line, without its newline. */
export const lineOf = (about: About, report: Report): string =>
  JSON.stringify({ t: 'trial', ...about, ...report });

/** The line as short as a termination message has to be: what only explains goes first. */
export const messageOf = (about: About, report: Report): string => {
  const { notes: _, ...withoutNotes } = report;
  const { agentError: __, ...bare } = withoutNotes;
  return (
    [report, withoutNotes, bare]
      .map((one) => lineOf(about, one))
      .find((one) => Buffer.byteLength(one) <= LARGEST_MESSAGE) ??
    lineOf(about, { ...NOTHING, error: 'its line is too long', fault: 'infrastructure' })
  );
};
