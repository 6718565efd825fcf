/** How soon a tool has said its version, against kubectl saying its own. */
import { median } from '../../shared/statistics.ts';
import { type Bed, compiled, tool } from './bed.ts';
import { type Figure, figureOf, type Goal, notMeasured, ratios, shown } from './figure.ts';
import { kubectl } from './peers.ts';
import { interleaved, run } from './process-run.ts';

const ROW = 'start-up';
const TOOLS = ['plan', 'analyze', 'tracker'];
/** A start is short: many are cheap, and one says little. */
const TIMES = 5;

const wall = async (words: readonly string[]): Promise<number> => (await run(words)).wallMs;

/** A tool, and how it is started. */
export interface Started {
  name: string;
  how: 'from source' | 'compiled';
  goal: Goal;
}

/** One figure each. */
export const startUpOf = async (bed: Bed, kinds: readonly Started[]): Promise<Figure[]> => {
  const asked = kinds.map(({ name, how, goal }) => ({
    row: ROW,
    what: `${name} --version, ${how}, against kubectl version --client`,
    goal,
    unit: '×' as const,
  }));
  const found = kubectl();
  if ('why' in found) return asked.map((one) => notMeasured(one, found.why));
  const wordsOf = async ({ name, how }: Started): Promise<string[]> =>
    how === 'compiled' ? [await compiled(bed), name] : tool(name);
  const commands = await Promise.all(
    kinds.map(async (one) => [`${one.name} ${one.how}`, [...(await wordsOf(one)), '--version']] as const),
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

export const startUp = (bed: Bed): Promise<Figure[]> =>
  startUpOf(
    bed,
    TOOLS.flatMap((name): Started[] => [
      { name, how: 'from source', goal: { most: 1 } },
      { name, how: 'compiled', goal: { most: 0.4 } },
    ]),
  );
