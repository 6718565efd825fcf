import type { CompactPlan } from '../../schemas/plan.ts';
import { SessionError } from './session-error.ts';

/**
 * Whether targets do the same work, told from their fingerprints as they come. `analyze` has the last word (spec §6); a
 * session that is bound to fail there ends at once instead of hours later.
 */
export class Likeness {
  readonly #profile: CompactPlan['profile'];
  /** Kind and size → the first target's fingerprint. */
  readonly #first = new Map<string, { target: string; fingerprint: string }>();

  constructor(profile: CompactPlan['profile']) {
    this.#profile = profile;
  }

  /** Throws when this fingerprint is not the pinned one, or not that of the targets before. Lines without one pass. */
  check(step: 'seed' | 'warmup' | 'sample', target: string, turns: number, fingerprint: unknown): void {
    if (typeof fingerprint !== 'string') return;
    const plain = this.#profile.repeat !== undefined;
    const built = step === 'seed' && !plain ? 'built' : plain ? 'printed' : 'measured';
    const pinned = step === 'seed' ? this.#profile.fingerprints?.[String(turns)] : undefined;
    if (pinned !== undefined && fingerprint !== pinned)
      throw new SessionError(
        'unlike',
        `'${target}' at size ${turns} ${built} something with fingerprint '${fingerprint}', the profile wants '${pinned}'; ` +
          'mend the target, or the fingerprint in the profile',
      );
    const key = `${step === 'seed' ? 'seed' : 'sample'} ${turns}`;
    const first = this.#first.get(key);
    if (first === undefined) this.#first.set(key, { target, fingerprint });
    else if (first.fingerprint !== fingerprint)
      throw new SessionError(
        'unlike',
        plain
          ? `'${target}' and '${first.target}' printed different things (${fingerprint} and ${first.fingerprint}), so they did different work; ` +
              'compare commands that print the same, or plan the profile with --no-output-check'
          : `'${target}' and '${first.target}' did different work at size ${turns}: they ${built} '${fingerprint}' and '${first.fingerprint}'`,
      );
  }
}
