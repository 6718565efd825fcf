/** Normal and Student's t, to about 12 digits. Pure. */

/** ln Γ(x) for x > 0, by Lanczos' series (g = 7, nine terms). */
const logGamma = (x: number): number => {
  const terms = [
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const base = x + 6.5;
  const sum = terms.reduce((total, term, at) => total + term / (x + at), 0.99999999999980993);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum);
};

/** The part of a normal distribution above x: series near 0, Legendre's continued fraction in the tail. */
export const normalTail = (x: number): number => {
  if (x < 0) return 1 - normalTail(-x);
  const density = Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
  if (x < 2.5) {
    let [term, sum] = [x, x];
    for (let at = 3; term > sum * 1e-17; at += 2) {
      term *= (x * x) / at;
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let fraction = x;
  for (let at = 120; at >= 1; at--) fraction = x + at / fraction;
  return density / fraction;
};

/** The value that a standard normal stays below with probability p, 0 < p < 1. */
export const normalQuantile = (p: number): number => {
  if (p > 0.5) return -normalQuantile(1 - p);
  // Abramowitz & Stegun 26.2.23 to start from, then Newton's steps on the exact tail.
  const t = Math.sqrt(-2 * Math.log(p));
  let x =
    t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + t * (1.432788 + t * (0.189269 + 0.001308 * t)));
  for (let at = 0; at < 4; at++) x += (normalTail(x) - p) / (Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI));
  return -x;
};

/** Regularised incomplete beta function, by Lentz's continued fraction. */
const incompleteBeta = (x: number, a: number, b: number): number => {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m < 500; m++) {
    for (const term of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return (front * fraction) / a;
};

/** The part of Student's t with `freedom` degrees above x. */
export const studentTail = (x: number, freedom: number): number => {
  const half = 0.5 * incompleteBeta(freedom / (freedom + x * x), freedom / 2, 0.5);
  return x >= 0 ? half : 1 - half;
};

/** The density of Student's t with `freedom` degrees at x. */
const studentDensity = (x: number, freedom: number): number =>
  Math.exp(
    logGamma((freedom + 1) / 2) -
      logGamma(freedom / 2) -
      0.5 * Math.log(freedom * Math.PI) -
      ((freedom + 1) / 2) * Math.log1p((x * x) / freedom),
  );

/** The value that Student's t with `freedom` degrees stays below with probability p, 0 < p < 1. */
export const studentQuantile = (p: number, freedom: number): number => {
  if (p === 0.5) return 0;
  if (p < 0.5) return -studentQuantile(1 - p, freedom);
  let [low, high] = [0, 2];
  while (studentTail(high, freedom) > 1 - p) [low, high] = [high, high * 2];
  let x = (low + high) / 2;
  // Newton's steps, kept inside the bracket by halving it where they would leave.
  for (let at = 0; at < 200; at++) {
    const excess = studentTail(x, freedom) - (1 - p);
    if (excess > 0) low = x;
    else high = x;
    const step = x + excess / studentDensity(x, freedom);
    const next = step > low && step < high ? step : (low + high) / 2;
    if (Math.abs(next - x) <= 1e-15 * x) break;
    x = next;
  }
  return x;
};
