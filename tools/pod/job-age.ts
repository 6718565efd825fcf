/**
 * How long a session's Job has been there, s: its deadline counts from its start, and this process started only after a node
 * was found, an image pulled and a bundle delivered. `submittedAt`: K8SBENCH_SUBMITTED_AT, by the runner's clock.
 */
export const jobAge = (submittedAt: string | undefined, now: number, limit_s: number): number => {
  const age = (now - Date.parse(submittedAt ?? '')) / 1000;
  // A session that waited past its limit ends at once, in its own words: at the deadline the Job takes its log away.
  const deadline_s = Math.max(limit_s + 30, limit_s / 0.95);
  // Before the Job was made, or after its end: the two clocks don't agree, and say nothing.
  return age > 0 && age < deadline_s ? age : 0;
};
