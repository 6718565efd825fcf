/** The paragraph for people in a tracker line (spec §7). Pure. */
import type { Analysis, Comparison } from '../../schemas/analysis.ts';
import type { Throttle } from '../../schemas/calibration.ts';
import type { TrackerLine } from '../../schemas/tracker.ts';
import { nodeTypeName } from '../../shared/node-type.ts';
import { atSize } from '../../shared/sizes.ts';
import { referenceKey } from '../../shared/verdict.ts';

const UNITS: Readonly<Record<string, string>> = { retainedMB: ' MB', peakRssMB: ' MB', seedS: ' s' };

const NAMES: Readonly<Record<string, string>> = {
  warmP95: 'warm p95',
  coldP95: 'cold p95',
  cpuWarm: 'CPU warm',
  cpuCold: 'CPU cold',
  retainedMB: 'retained',
  peakRssMB: 'peak RSS',
  seedS: 'seed',
};

/** As the format writes numbers: one decimal, always. */
const number = (value: number): string => value.toFixed(1);

/** Node, cores and cpuset, or the median over which nodes; the node type after the cpuset. */
const where = ({ sessions }: Analysis): string => {
  const first = sessions[0]!;
  const type = nodeTypeName(first.nodeType);
  const sets = [...new Set(sessions.map((one) => one.cpuSet))].join(' and ');
  if (sessions.length === 1) {
    const cores = first.cpus === '' ? 'cores not pinned' : `cores ${first.cpus}`;
    return `on ${first.node}, ${cores}, cpuset ${sets}, ${type}`;
  }
  const nodes = [...new Set(sessions.map((one) => one.node))];
  return nodes.length === 1
    ? `median over ${sessions.length} sessions on ${nodes[0]}, cpuset ${sets}, ${type}`
    : `median over nodes ${nodes.join(', ')}, cpuset ${sets}, ${type}`;
};

const throttled = (name: string, throttle: Throttle | undefined): string =>
  throttle === undefined || throttle.throttledSamples === null
    ? `${name} not measurable`
    : `${name} ${throttle.throttledSamples} of ${throttle.samples}`;

const agreement = (disagree: readonly string[]): string =>
  disagree.length === 0
    ? 'run and rolling median agree'
    : `run and rolling median disagree on ${disagree.map((one) => NAMES[one] ?? one).join(', ')}`;

export const summaryOf = (
  analysis: Analysis,
  { candidate, reference, floor, samples, throttle, values: exact }: Comparison,
  line: Omit<TrackerLine, 'summary' | 'more'>,
): string => {
  const { values, delta, compare } = line;
  const unit = (name: string): string => {
    const own = analysis.metrics.find((one) => one.key === name);
    return own ? ` ${own.unit}` : (UNITS[name] ?? ' ms');
  };
  const metrics = Object.entries(compare).map(
    ([name, one]) =>
      `${NAMES[name] ?? name} ${number(one.pig)} vs ${number(one.piRun)} (${number(one.piRolling)})${unit(name)} ${
        one.disagree || one.run !== one.rolling ? `${one.run} (${one.rolling})` : one.run
      }`,
  );
  const bare = Object.keys(values).filter(
    (name) =>
      exact[referenceKey(name)] !== undefined &&
      compare[name] === undefined &&
      /^(warm|cold)(P95)?$/.test(name),
  );
  const growth = values['growthPerTurn'];
  const changes = Object.entries(delta).filter(([, one]) => one !== 'n/a');
  const wallGated = Object.values(analysis.noise).every((one) => one['warm']?.gate === true);
  const parts = [
    `${line.rule}: ${analysis.profile} ${atSize(line.turns, analysis)}` +
      (line.core === '' ? '' : `, commit ${line.core}`) +
      `, ${where(analysis)}`,
    floor === undefined
      ? 'no floor'
      : `net of floor ${floor} (warm ${number(values['floorWarm'] ?? 0)}, cold ${number(values['floorCold'] ?? 0)} ms)`,
    `n ${samples}`,
    `gate ${analysis.gate}${wallGated ? '' : ', wall times informational'}`,
    `${candidate} vs ${reference} (rolling): ${metrics.join(', ') || 'nothing to compare'}`,
    ...bare.map(
      (name) =>
        `${NAMES[name] ?? name} ${number(values[name]!)} vs ${number(values[referenceKey(name)]!)} ms, no verdict: a net value is not above 0`,
    ),
    ...(growth === undefined
      ? []
      : [`heap growth/turn ${number(growth)} vs ${number(values['piGrowthPerTurn']!)} B`]),
    changes.length === 0
      ? `no delta (baseline ${line.baseline})`
      : `against ${line.baseline}: ${changes.map(([name, one]) => `${name} ${one}`).join(', ')}`,
    `CFS-throttled samples: ${throttled(candidate, throttle[candidate])}, ${throttled(reference, throttle[reference])}`,
    agreement(line.disagree),
    `fingerprint ${line.fingerprint}`,
  ];
  return `${parts.join('; ')}.`;
};
