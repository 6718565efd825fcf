/**
 * When the model's server was not the one that it was: what an agent did across such a moment says nothing of the agent,
 * whether it solved its task or not. Pure.
 */
import type { TrialLine } from '../../../schemas/trial-line.ts';
import { type ContainerStatus, GATE, statusOf, TRIAL, type TrialPod } from './objects.ts';

/** The container that serves the model. */
const ENGINE = 'engine';

const timesOf = (state: ContainerStatus['state']): (string | undefined)[] => [
  state?.running?.startedAt,
  state?.terminated?.startedAt,
  state?.terminated?.finishedAt,
];

/** Moments at which a model's engine began or ended, as its pod tells them, ms since the epoch. */
export const engineMoments = (pod: TrialPod): number[] => {
  const engine = pod.status.containerStatuses?.find((one) => one.name === ENGINE);
  const ended = [engine?.state, engine?.lastState].some((one) => one?.terminated !== undefined);
  return [
    ...timesOf(engine?.state),
    ...timesOf(engine?.lastState),
    // Its last state may never be told once it is on its way out.
    ...(ended ? [] : [pod.metadata.deletionTimestamp]),
  ]
    .map((one) => Date.parse(one ?? ''))
    .filter((one) => !Number.isNaN(one));
};

/**
 * Ends of engines that were told, pod by pod: of several restarts a pod tells the last alone, and a count. Whoever looks late
 * knows that there were more, and not when.
 */
export class EngineEnds {
  readonly #known = new Map<string, Set<string>>();
  readonly #untold = new Map<string, number>();

  /** How many more ends a pod has had than were ever told, and before when; undefined when that was said, or is none. */
  untold(pod: TrialPod): { ends: number; before: string } | undefined {
    const engine = pod.status.containerStatuses?.find((one) => one.name === ENGINE);
    if (!engine) return undefined;
    const { uid } = pod.metadata;
    const known = this.#known.get(uid) ?? new Set();
    this.#known.set(uid, known);
    const told = [engine.lastState?.terminated, engine.state?.terminated].flatMap((one) => one ?? []);
    for (const { finishedAt } of told) if (finishedAt !== undefined) known.add(finishedAt);
    const ends = (engine.restartCount ?? 0) + (engine.state?.running || told.length === 0 ? 0 : 1);
    const missing = ends - known.size;
    if (missing <= (this.#untold.get(uid) ?? 0)) return undefined;
    this.#untold.set(uid, missing);
    const last = told[0]?.startedAt ?? engine.state?.running?.startedAt;
    return last === undefined ? undefined : { ends: missing, before: last };
  }
}

/** While the agent worked; undefined when the pod doesn't tell both ends. */
const windowOf = (pod: TrialPod, line: TrialLine): [from: number, to: number] | undefined => {
  const trial = statusOf(pod, TRIAL);
  const from = Date.parse(trial?.running?.startedAt ?? trial?.terminated?.startedAt ?? '');
  const to = Date.parse(statusOf(pod, GATE)?.terminated?.finishedAt ?? '') - (line.verifierWallMs ?? 0);
  return from < to ? [from, to] : undefined;
};

/** A trial across which the model's server began or ended is void, and keeps what it would have come to beside. */
export const voided = (line: TrialLine, pod: TrialPod, moments: Iterable<number>): TrialLine => {
  const window = windowOf(pod, line);
  if (line.fault === 'agent' || !window) return line;
  const [from, to] = window;
  if (![...moments].some((one) => one > from && one <= to)) return line;
  const { reward, error } = line;
  return {
    ...line,
    reward: null,
    error: "the model's server restarted while the agent worked",
    fault: 'infrastructure',
    ...{ void: { reward, ...(error === undefined ? {} : { error }) } },
  };
};
