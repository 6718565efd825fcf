/** Bencher Metric Format (bencher.dev): benchmark → measure → value with its bounds. Pure. */
import { jsonText } from '../../../shared/read.ts';
import { comparedValues, ratios } from '../compared.ts';
import type { Format } from '../format.ts';

interface Metric {
  value: number;
  lower_value?: number;
  upper_value?: number;
}

/** Measures are slugs: small letters, digits and dashes, 64 of them at most. */
const slug = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-|-$/g, '') || 'value';

export const bencher: Format = {
  about: 'Bencher Metric Format: values of each target, and concluded ratios with their bounds',
  holds: 'comparisons',
  text({ analysis }) {
    const all: Record<string, Record<string, Metric>> = {};
    const put = (benchmark: string, measure: string, metric: Metric): void => {
      (all[benchmark] ??= {})[measure] = metric;
    };
    for (const { turns, target, label, unit, value } of comparedValues(analysis))
      put(`${analysis.rule}/${turns}/${target}`, slug(`${label} ${unit}`), { value });
    for (const { turns, candidate, metric, ratio, low, high, session } of ratios(analysis))
      put(
        `${analysis.rule}/${turns}/${candidate}${session === undefined ? '' : `/${session}`}`,
        slug(`${metric} ratio`),
        {
          value: ratio,
          ...(low === null ? {} : { lower_value: low }),
          ...(high === null ? {} : { upper_value: high }),
        },
      );
    return jsonText(all);
  },
};
