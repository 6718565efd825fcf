/**
 * The verifier gate: the container that alone holds the tests. It answers one request, the trial's own after the agent has
 * ended, and prints the trial's line. It believes nothing that lacks the trial's code: such a request is the agent's, and the trial is
 * not scored.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { treeDigest } from '../../../shared/tree-digest.ts';
import {
  ALIVE,
  ANSWER,
  BEGIN,
  keepAlive,
  KEY,
  opened,
  put,
  readForeign,
  REFUSED,
  REQUEST,
  RESULT,
  sealed,
  Signs,
  sleep,
  TESTS,
  TOOK_KEY,
} from './exchange.ts';
import { type About, NOTHING, type Report, reportOf } from './line.ts';

export interface GateSpec extends About {
  /** The staged bundle. */
  staged: string;
  testsSha256: string;
  /** For the trial's container to start (its image may have to be pulled), s. */
  start_s: number;
  /** For everything from then on, s. */
  trial_s: number;
  /** A trial that shows no sign of life for so long is gone, s. */
  silence_s: number;
}

export interface GatePlace {
  ask: string;
  answer: string;
  /** The tests, on the claim. */
  tests: string;
}

const LOOK_MS = 200;

const without = (error: string, fault: NonNullable<Report['fault']>): Report => ({
  ...NOTHING,
  error,
  fault,
});

/** The agent, or something that it left, spoke where only the trial may. */
const ASKED = 'the agent asked the gate for the tests';

/** One gate, for one trial. */
class Gate {
  readonly #spec: GateSpec;
  readonly #place: GatePlace;
  readonly #key = randomBytes(32);
  readonly #ended: AbortSignal;
  #answered = false;

  constructor(spec: GateSpec, place: GatePlace, ended: AbortSignal) {
    this.#spec = spec;
    this.#place = place;
    this.#ended = ended;
  }

  async run(): Promise<Report> {
    const { answer, tests } = this.#place;
    const { start_s, testsSha256 } = this.#spec;
    if (treeDigest(tests) !== testsSha256)
      return without('the staged tests differ from tasks.lock; stage the bundle again', 'infrastructure');
    put(answer, KEY, this.#key.toString('hex'));
    const took = await this.#until(
      start_s,
      () => readForeign(join(this.#place.ask, TOOK_KEY)).is !== 'nothing',
    );
    if (took === 'ended') return this.#endedReport();
    if (took === 'late')
      return without(`the trial's container did not start within ${start_s} s`, 'infrastructure');
    // Nothing but the trial runs there yet: the key was read by it alone.
    rmSync(join(answer, KEY));
    put(answer, BEGIN, '');
    return this.#serve();
  }

  #endedReport(): Report {
    return without('the pod was ended: by its deadline, an eviction or a deletion', 'infrastructure');
  }

  async #until(seconds: number, look: () => boolean): Promise<'yes' | 'late' | 'ended'> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      if (look()) return 'yes';
      if (this.#ended.aborted) return 'ended';
      if (performance.now() > end) return 'late';
      await sleep(LOOK_MS);
    }
  }

  /** From `begin` to the trial's report. */
  async #serve(): Promise<Report> {
    const { trial_s, silence_s } = this.#spec;
    let report: Report | undefined;
    const trial = new Signs(join(this.#place.ask, ALIVE));
    const how = await this.#until(trial_s, () => {
      report = this.#request() ?? this.#result();
      report ??=
        trial.silent_s() > silence_s
          ? without("the trial's container ended without a word: killed, or out of memory", 'infrastructure')
          : undefined;
      return report !== undefined;
    });
    if (report) return report;
    return how === 'ended'
      ? this.#endedReport()
      : without(`the trial did not end within ${trial_s} s`, 'infrastructure');
  }

  #refuse(what: string): Report {
    put(this.#place.answer, REFUSED, '');
    return without(what, 'agent');
  }

  /** A request, when there is one: the first good one is answered; anything else ends the trial. */
  #request(): Report | undefined {
    const found = readForeign(join(this.#place.ask, REQUEST));
    if (found.is === 'nothing') return undefined;
    if (found.is === 'planted') return this.#refuse(`${ASKED}: ${found.what}`);
    const request = opened(this.#key, REQUEST, found.text) as { nonce?: unknown } | undefined;
    if (typeof request?.nonce !== 'string' || !/^[0-9a-f]{64}$/.test(request.nonce))
      return this.#refuse(ASKED);
    if (this.#answered) return undefined;
    this.#answered = true;
    this.#answer(request.nonce);
    return undefined;
  }

  #answer(nonce: string): void {
    const { answer, tests } = this.#place;
    const to = join(answer, TESTS);
    cpSync(tests, to, { recursive: true, dereference: false, errorOnExist: true, force: false });
    chmodSync(to, 0o755);
    // Last: whoever sees it finds all of the tests.
    put(answer, ANSWER, sealed(this.#key, ANSWER, { nonce, testsSha256: this.#spec.testsSha256 }));
  }

  #result(): Report | undefined {
    const found = readForeign(join(this.#place.ask, RESULT));
    if (found.is === 'nothing') return undefined;
    const given = found.is === 'text' ? opened(this.#key, RESULT, found.text) : undefined;
    if (given === undefined) return this.#refuse('the agent wrote a result of its own');
    const report = reportOf(given);
    // A reward is earned in front of the gate, never before.
    return report.reward !== null && !this.#answered
      ? without('there is a reward, and nobody asked for the tests', 'agent')
      : report;
  }
}

/** Serves one trial to its end. */
export const runGate = async (spec: GateSpec, place: GatePlace, ended: AbortSignal): Promise<Report> => {
  const alive = keepAlive(place.answer);
  try {
    return await new Gate(spec, place, ended).run();
  } finally {
    clearInterval(alive);
  }
};
