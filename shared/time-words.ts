/** A length of time for people: `45 s`, `3 min`, `1 h 20 min`. */
export const timeInWords = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 90) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
