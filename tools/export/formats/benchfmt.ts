/** Go's benchmark format (golang.org/design/14313-benchmark-format): what benchstat and its relatives read. Pure. */
import { plainText } from '../../../shared/terminal.ts';
import type { SampleMetric } from '../../../shared/sample-values.ts';
import type { Format } from '../format.ts';
import type { Row } from '../material.ts';

/** Base units of the format, and how much of one a unit is. */
const UNITS: Readonly<Record<string, readonly [unit: string, scale: number]>> = {
  ns: ['sec', 1e-9],
  us: ['sec', 1e-6],
  µs: ['sec', 1e-6],
  ms: ['sec', 1e-3],
  s: ['sec', 1],
  B: ['B', 1],
  bytes: ['B', 1],
  KiB: ['B', 1024],
  kB: ['B', 1000],
  MiB: ['B', 1024 ** 2],
  MB: ['B', 1e6],
};

/** camelCase as words apart by dashes. */
const dashed = (key: string): string => key.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`);

/** Names and units hold no blanks, and no control characters. */
const word = (text: string): string => plainText(text).replace(/\s+/g, '_') || '_';

interface Unit {
  metric: SampleMetric;
  name: string;
  scale: number;
}

const unitOf = (metric: SampleMetric): Unit => {
  const [base, scale] = UNITS[metric.unit] ?? [word(metric.unit), 1];
  const key = dashed(metric.key);
  return { metric, name: key === base ? key : `${key}-${base}`, scale };
};

/** Configuration: one line, a key in lower case. */
const config = (key: string, value: string): string => `${key}: ${plainText(value)}\n`;

/** The name is a Go identifier as far as readers care: `Benchmark`, then a capital. */
const benchmarkName = (rule: string, turns: number): string => {
  const name = word(rule.replace(/^Benchmark(?=[A-Z])/, '')).replace(
    /[^A-Za-z0-9_]+(.?)/g,
    (_, next: string) => next.toUpperCase(),
  );
  return `Benchmark${name.charAt(0).toUpperCase()}${name.slice(1)}/turns=${turns}`;
};

/** Times scaled in decimal: 1.5 ms is 0.0015 s, not 0.0015000000000000002. */
const number = (value: number, scale: number): string => String(Number((value * scale).toPrecision(15)));

export const benchfmt: Format = {
  about: "Go's benchmark format, a line for each sample: benchstat reads it (-col target)",
  holds: 'samples',
  text({ analysis, metrics, rows }) {
    const units = metrics.map(unitOf);
    const about = new Map(analysis.sessions.map((one) => [one.run, one]));
    let text =
      config('profile', analysis.profile) +
      config('rule', analysis.rule) +
      (analysis.commit === '' ? '' : config('commit', analysis.commit)) +
      config('judged', analysis.judged ? 'yes' : 'no') +
      units.map(({ name, metric }) => `Unit ${name} better=${metric.better}\n`).join('');
    let before: Row | undefined;
    for (const row of rows) {
      if (row.session !== before?.session) {
        const session = about.get(row.session);
        text += config('run', row.session);
        if (session) text += config('node', session.node) + config('cpu', session.nodeType.cpuModel);
      }
      if (row.target !== before?.target) text += config('target', row.target);
      before = row;
      const values = units.flatMap(({ metric, name, scale }) => {
        const value = row.values.get(metric.key);
        return value === undefined ? [] : [`${number(value, scale)} ${name}`];
      });
      if (values.length > 0) text += `${benchmarkName(analysis.rule, row.turns)} 1 ${values.join(' ')}\n`;
    }
    return text;
  },
};
