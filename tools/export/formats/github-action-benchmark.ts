/** benchmark-action/github-action-benchmark, tool `customSmallerIsBetter`: a list of values where less is better. Pure. */
import type { Analysis } from '../../../schemas/analysis.ts';
import { jsonText } from '../../../shared/read.ts';
import { atItsSize } from '../../../shared/sizes.ts';
import { comparedValues, type Ratio, ratios } from '../compared.ts';
import type { Format } from '../format.ts';

interface Entry {
  name: string;
  unit: string;
  value: number;
  range?: string;
  extra?: string;
}

const higherIsBetter = ({ metrics }: Analysis): string[] =>
  metrics.filter((one) => one.better === 'higher').map((one) => one.key);

/** Half the width of an interval, as the format writes a spread. */
const range = (ratio: number, low: number | null, high: number | null): Pick<Entry, 'range'> =>
  low === null || high === null ? {} : { range: `± ${Math.max(high - ratio, ratio - low).toPrecision(3)}` };

const concludedEntry = (analysis: Analysis, { session, ...one }: Ratio): Entry => {
  const { turns, candidate, reference, metric, ratio, low, high, sentence } = one;
  const where = session === undefined ? '' : `, ${session}`;
  const entry: Entry = {
    name: `${analysis.rule}${atItsSize(turns, analysis)}: ${candidate} ${metric} over ${reference}${where}`,
    unit: 'ratio',
    value: ratio,
    extra: sentence,
  };
  return { ...entry, ...range(ratio, low, high) };
};

export const githubActionBenchmark: Format = {
  about: 'JSON for github-action-benchmark, tool customSmallerIsBetter',
  holds: 'comparisons',
  text({ analysis }) {
    const values = comparedValues(analysis)
      .filter((one) => one.better === 'lower')
      .map(({ rule, turns, target, label, unit, value }): Entry => ({
        name: `${rule}${atItsSize(turns, analysis)}: ${target} ${label}`,
        unit,
        value,
      }));
    const left = new Set(higherIsBetter(analysis));
    const concluded = ratios(analysis)
      .filter((one) => !left.has(one.metric))
      .map((one) => concludedEntry(analysis, one));
    return jsonText([...values, ...concluded]);
  },
  leftOut: ({ analysis }) =>
    higherIsBetter(analysis).map(
      (one) =>
        `'${one}' is better when it is higher, and the list is of values where less is better: left out`,
    ),
};
