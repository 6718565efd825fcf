/** hyperfine's `--export-json`: the times of each target's processes, s. Pure. */
import { failed } from '../../../shared/failure.ts';
import { jsonText } from '../../../shared/read.ts';
import { atSize } from '../../../shared/sizes.ts';
import { mean, median, standardDeviation } from '../../../shared/statistics.ts';
import { plainText } from '../../../shared/terminal.ts';
import type { Format } from '../format.ts';
import type { Material, Row } from '../material.ts';

const MS = 1000;

/** What one sample amounts to: each process of a plain command, or all that a workload's process measured. */
const timesOf = ({ line, values }: Row, processPerTurn: boolean): number[] => {
  if (line.turn === undefined) return [values.get('time')].filter((one) => one !== undefined);
  return processPerTurn ? line.turn : [line.turn.reduce((sum, one) => sum + one, line.open ?? 0)];
};

const results = ({ rows, processPerTurn }: Material) => {
  const groups = new Map<string, { target: string; turns: number; times: number[] }>();
  for (const row of rows) {
    const key = JSON.stringify([row.turns, row.target]);
    const group = groups.get(key) ?? { target: row.target, turns: row.turns, times: [] };
    groups.set(key, group);
    group.times.push(...timesOf(row, processPerTurn).map((one) => one / MS));
  }
  return [...groups.values()].filter((one) => one.times.length > 0);
};

export const hyperfine: Format = {
  about: "hyperfine's JSON: the wall times of each target's processes",
  holds: 'samples',
  text(material) {
    const found = results(material);
    if (found.length === 0)
      throw failed(`'${material.analysis.run}' has no wall times, and hyperfine's format holds nothing else`);
    const sizes = new Set(found.map((one) => one.turns)).size;
    // The format has no other place for it, and whoever plots the times reads the command.
    const { judged, origin } = material.analysis;
    const mark = judged || origin === 'imported' ? '' : ' (not judged)';
    return jsonText({
      results: found.map(({ target, turns, times }) => ({
        command: plainText(target) + (sizes > 1 ? ` ${atSize(turns, material.analysis)}` : '') + mark,
        mean: mean(times),
        stddev: times.length > 1 ? standardDeviation(times) : null,
        median: median(times),
        min: Math.min(...times),
        max: Math.max(...times),
        times,
        parameters: { target: plainText(target), turns: String(turns), judged: judged ? 'yes' : 'no' },
      })),
    });
  },
};
