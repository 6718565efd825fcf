/** What weakens a result although it was judged (DESIGN §1). Pure. */
import type { Comparison, Doubt } from '../../schemas/analysis.ts';
import { firstFew } from '../../shared/first-few.ts';
import { atSize, type Counted } from '../../shared/sizes.ts';

/** Fields of a manifest that a sentence names. */
const NAMED = 3;

/** Jobs that were submitted although their manifests were edited: what was measured is not what was planned. */
export const editedManifests = (edited: readonly (readonly string[])[]): Doubt[] => {
  const fields = [...new Set(edited.flat())];
  if (fields.length === 0) return [];
  return [
    {
      name: 'edited-manifest',
      value: fields.length,
      threshold: 0,
      side: 'above',
      sentence: `the Job was submitted with an edited manifest: ${firstFew(fields, NAMED).join('; ')}`,
    },
  ];
};

/** Under this median, ms, the tracker's one decimal is a coarse ruler. */
const SHORT = 1;

const NAMES: Readonly<Record<string, (comparison: Comparison) => string>> = {
  warm: ({ candidate }) => `'${candidate}' warm`,
  cold: ({ candidate }) => `'${candidate}' cold`,
  piWarm: ({ reference }) => `'${reference}' warm`,
  piCold: ({ reference }) => `'${reference}' cold`,
};

/** Comparisons whose wall medians are under 1 ms: one doubt each, with the smallest as its value. */
export const shortTimes = (comparisons: readonly Comparison[], counted: Counted): Doubt[] =>
  comparisons.flatMap((comparison) => {
    const short = Object.keys(NAMES)
      .map((name) => ({ name, value: comparison.values[name] }))
      .filter(
        (one): one is { name: string; value: number } => !(one.value === undefined || one.value >= SHORT),
      )
      .toSorted((a, b) => a.value - b.value);
    if (short.length === 0) return [];
    const { floor, turns, candidate } = comparison;
    const net = floor === undefined ? '' : ` (net of '${floor}')`;
    return [
      {
        name: 'short-times',
        value: short[0]!.value,
        threshold: SHORT,
        sentence: `${atSize(turns, counted)} medians${net} are under ${SHORT} ms: ${short
          .map(({ name, value }) => `${NAMES[name]!(comparison)} ${value.toFixed(3)} ms`)
          .join(', ')}; tracker lines hold one decimal, so measure more work per turn`,
        candidate,
        turns,
      },
    ];
  });
