/** How a planned error is spent over planned looks. Pure. */

/**
 * The exponent of the spending function level·t^ρ (Kim & DeMets 1987). An O'Brien–Fleming type spends almost nothing
 * early, and sign flips of few rounds can't give a p that small: after 6 rounds the smallest is 0.031. With 0.63 of the
 * level spent at half time, six rounds that all agree are a decision, which is what saves rounds on large effects.
 */
const RHO = 2 / 3;

/** The share of the error that may be spent once the share `t` of the planned rounds is done. */
export const spentAt = (t: number, level: number): number => level * Math.min(1, t) ** RHO;

/** No look before this many rounds: fewer can't give p ≤ 0.05. */
const FIRST = 6;

/** Planned looks for so many rounds: at half, three quarters and the end, none before 6 rounds. */
export const plannedLooks = (rounds: number): number[] => {
  const looks = [rounds / 2, (rounds * 3) / 4, rounds].map(Math.ceil);
  return [...new Set(looks.map((one) => Math.min(rounds, Math.max(FIRST, one))))];
};
