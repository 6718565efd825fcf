const rounded = (value: unknown): unknown =>
  typeof value === 'number'
    ? Math.round(value * 1e4) / 1e4
    : Array.isArray(value)
      ? value.map(rounded)
      : value;

/** A line's numbers with four digits after the point: a clock tells no more. */
export const roundedAll = (line: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(line).map(([key, value]) => [key, rounded(value)]));
