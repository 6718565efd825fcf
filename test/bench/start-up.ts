/** How soon a tool that needs no cluster has said its version, against kubectl saying its own. */
import { median } from '../../shared/statistics.ts';
import { type Bed, compiled, tool } from './bed.ts';
import { type Figure, figureOf, notMeasured, ratios, shown } from './figure.ts';
import { kubectl } from './peers.ts';
import { interleaved, run } from './process-run.ts';

const ROW = 'start-up';
const TOOLS = ['plan', 'analyze', 'tracker'];
/** A start is short: many are cheap, and one says little. */
const TIMES = 5;

const wall = async (words: readonly string[]): Promise<number> => (await run(words)).wallMs;

export const startUp = async (bed: Bed): Promise<Figure[]> => {
  const kinds = TOOLS.flatMap((name) => [
    { name, how: 'from source', words: async () => tool(name), goal: { most: 1 } },
    { name, how: 'compiled', words: async () => [await compiled(bed), name], goal: { most: 0.4 } },
  ]);
  const asked = kinds.map(({ name, how, goal }) => ({
    row: ROW,
    what: `${name} --version, ${how}, against kubectl version --client`,
    goal,
    unit: '×' as const,
  }));
  const found = kubectl();
  if ('why' in found) return asked.map((one) => notMeasured(one, found.why));
  const commands = await Promise.all(
    kinds.map(async (one) => [`${one.name} ${one.how}`, [...(await one.words()), '--version']] as const),
  );
  const each = await interleaved(
    TIMES * bed.repetitions,
    Object.fromEntries(
      [['kubectl', [found.path, 'version', '--client']] as const, ...commands].map(([name, words]) => [
        name,
        () => wall(words),
      ]),
    ),
  );
  return kinds.map(({ name, how }, at) => {
    const ours = each[`${name} ${how}`]!;
    const from = `${shown(ours, 'ms', 0)}, kubectl ${median(each['kubectl']!).toFixed(0)} ms`;
    return figureOf({ ...asked[at]!, from }, ratios(ours, each['kubectl']!));
  });
};
