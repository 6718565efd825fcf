/**
 * Several sessions as blocks: a random-effects mean with the variance between sessions after Paule & Mandel (1982) and the
 * interval of Hartung & Knapp (2001), Student's t with k − 1 degrees. Pure.
 */
import { studentQuantile, studentTail } from './distributions.ts';

export interface Pooled {
  estimate: number;
  low: number;
  high: number;
  p: number;
  /** Variance between sessions. */
  between: number;
  /** Standard error of the estimate. */
  error: number;
}

/** Mean weighted by 1 / (variance + between), and the weighted sum of squares about it. */
const weighted = (effects: readonly number[], variances: readonly number[], between: number) => {
  const weights = variances.map((one) => 1 / (one + between));
  const total = weights.reduce((sum, one) => sum + one, 0);
  const mean = effects.reduce((sum, one, at) => sum + one * weights[at]!, 0) / total;
  const squares = effects.reduce((sum, one, at) => sum + weights[at]! * (one - mean) ** 2, 0);
  return { mean, squares, total };
};

/** The variance between sessions at which the weighted squares equal their expectation, k − 1; 0 when they never exceed it. */
const betweenVariance = (effects: readonly number[], variances: readonly number[]): number => {
  const freedom = effects.length - 1;
  const excess = (between: number): number => weighted(effects, variances, between).squares - freedom;
  if (!(excess(0) > 0)) return 0;
  let [low, high] = [0, Math.max(...variances) + 1e-300];
  while (excess(high) > 0) high *= 2;
  for (let at = 0; at < 200; at++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (excess(middle) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
};

/**
 * Effects of at least two sessions, with the variance each has from its own rounds, and a two-sided level. Sessions
 * without any noise (variance 0) count as equally exact.
 */
export const pooled = (effects: readonly number[], variances: readonly number[], level: number): Pooled => {
  if (effects.length < 2) throw new RangeError('sessions are pooled from two on');
  const freedom = effects.length - 1;
  const least = Math.max(...variances) * 1e-12 || 1e-300;
  const own = variances.map((one) => Math.max(one, least));
  const between = betweenVariance(effects, own);
  const { mean, squares, total } = weighted(effects, own, between);
  const error = Math.sqrt(squares / freedom / total);
  const half = studentQuantile(1 - level / 2, freedom) * error;
  const p = error > 0 ? 2 * studentTail(Math.abs(mean) / error, freedom) : mean === 0 ? 1 : 0;
  return { estimate: mean, low: mean - half, high: mean + half, p, between, error };
};
