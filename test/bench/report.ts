/** The figures as a table, and the page that keeps them. */
import { table } from '../../shared/terminal.ts';
import { type Figure, type Goal, holds } from './figure.ts';
import type { Machine } from './machine.ts';

const number = (value: number, unit: Figure['unit']): string =>
  unit === 'MB' && value >= 10 ? value.toFixed(0) : value.toFixed(2);

const goalText = (goal: Goal, unit: Figure['unit']): string =>
  `${'most' in goal ? `≤ ${goal.most}` : `≥ ${goal.least}`} ${unit}`;

const resultText = ({ value, unit }: Figure): string =>
  value === null ? 'not measured' : `${number(value, unit)} ${unit}`;

const spreadText = ({ low, high, unit, repetitions }: Figure): string =>
  low === undefined || high === undefined
    ? ''
    : `${number(low, unit)}–${number(high, unit)} of ${repetitions}`;

const metText = (figure: Figure): string => ({ true: 'yes', false: 'no', undefined: '' })[`${holds(figure)}`];

const cellsOf = (figure: Figure): string[] => [
  figure.what,
  goalText(figure.goal, figure.unit),
  resultText(figure),
  spreadText(figure),
  metText(figure),
  figure.from,
];

const HEAD = ['what', 'goal', 'median', 'range', 'met', 'from'];

/** For a terminal: without what the figures were made of. */
export const tableOf = (figures: readonly Figure[]): string =>
  table([HEAD, ...figures.map(cellsOf)].map((cells) => cells.slice(0, 5)));

/** As the formatter leaves it: cells as wide as their column. */
export const markdown = (figures: readonly Figure[]): string => {
  const rows = [HEAD, ...figures.map(cellsOf)].map((cells) => cells.map((one) => one.replaceAll('|', '\\|')));
  const widths = HEAD.map((_, at) => Math.max(3, ...rows.map((cells) => cells[at]!.length)));
  const [head, ...body] = rows.map((cells) => cells.map((cell, at) => cell.padEnd(widths[at]!)));
  return [head!, widths.map((width) => '-'.repeat(width)), ...body]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
};

/** What a reader must know of the machine. */
export const machineText = (machine: Machine): string =>
  `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGB} GB, Linux ${machine.kernel}, Bun ${machine.bun}, Node ${machine.node}; load ${machine.loadBefore} at the beginning and
${machine.loadAfter} at the end; ${machine.at}.`;

/** README.md has two parts, of two commands: each writes its own and leaves the other. */
const CLUSTER_PART = '# In a cluster\n';

export const withMachinePart = (page: string, part: string): string => {
  const at = page.indexOf(CLUSTER_PART);
  return at === -1 ? part : `${part}\n${page.slice(at)}`;
};

export const withClusterPart = (page: string, part: string): string => {
  const at = page.indexOf(CLUSTER_PART);
  return `${(at === -1 ? page : page.slice(0, at)).trimEnd()}\n\n${CLUSTER_PART}\n${part}`.trimStart();
};

/** The first part of README.md. */
export const pageOf = (figures: readonly Figure[], machine: Machine): string => `# Benchmarks

\`make bench\` (\`bun test/bench/main.ts [ROW…] [--repetitions N] [--json]\`) measures k8sbench against its peers and writes this page when all
rows ran. Everything is a ratio within one run on one machine: contestants run in turn, once per repetition and every other time in the
other order; each repetition gives one ratio, and the table shows their median and range. Ratios of time are of wall time; where a
machine is shared the ratio by CPU time stands beside it. Nothing here is asserted by a test.

Peers come from Debian (hyperfine, jq, linux-perf, pigz; installed when they are missing and this runs as root); kubectl is the one on
the PATH, or \`$KUBECTL\`.

${machineText(machine)}

${markdown(figures)}

## How each is measured

- **per-process**: sessions of \`true\`, all readings on, pinned. From one sample's line to the next one's, with everything between processes, by the
  processes of a sample; the median of a session, against the median of \`hyperfine -N 'taskset -c LIST true'\`, which leaves out what it does between
  them. On a busy machine most processes wait for a core; the quietest tenth of both tells what is left.
- **between-samples**: the same time less what was measured, as a share of what was measured; a sample is two processes of half a second.
- **reported-time**: a program that sleeps 10 ms and writes how long it ran by its own clock. What a session reports beyond that is
  compared with what \`perf stat\` and hyperfine report beyond it; the difference of the medians is the bias, and the unit is the width of the
  middle half of the session's own runs.
- **analyze**: logs of 500 MB whose samples have 10 turns (279,000 rounds: half of the log are lines of readings), or 3,500 turns with all their
  digits, or 3,500 with four decimals. jq parses and selects nothing; the bare program reads blocks of 1 MiB and gives each line to
  JSON.parse. \`analyze\` checks every line and both digests, judges, and with a run directory writes results.jsonl.
- **history**: the run of fixtures/example, half of the history of its rule and size.
- **evidence**: made-up sessions of two targets in which all of a sample's metrics are primary, so that every one is judged with all others.
- **changes**: made-up histories with steps of 5 % and a spread of 1 %. apache-otava (from PyPI, into an environment of its own) reads the same ratios:
  its program from CSV, and its analysis alone from a file of numbers, in Python that imports nothing else.
- **page**: from the request to the first figures drawn in Debian's chromium, headless, from a file.
- **bundle**: a made-up bundle, read once before, so that nobody meets a cold disk. \`tar | pigz\` has pigz's own settings, and checks nothing.
- **start-up**: \`--version\`, started as any program is.
`;
