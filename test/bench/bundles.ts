/** `bundle check` and `bundle pack` of 1 GB in 20,000 files, against sha256sum and tar | pigz; a build that has nothing to do. */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { median } from '../../shared/statistics.ts';
import { bundle, sourceTree } from '../bundle/source-tree.ts';
import { type Bed, inTree, tool } from './bed.ts';
import { type Figure, figureOf, notMeasured, ratios, shown } from './figure.ts';
import { peer } from './peers.ts';
import { type Grown, interleaved, type Ran, run, runForPeak } from './process-run.ts';

const ROW = 'bundle';
const MOST_MB = 200;

const seconds = (runs: readonly Ran[]): number[] => runs.map((one) => one.wallMs / 1000);
const cpu = (runs: readonly Ran[]): number[] => runs.map((one) => one.cpuMs);
const perCpu = (theirs: readonly Ran[], ours: readonly Ran[]): string =>
  `${median(ratios(cpu(theirs), cpu(ours))).toFixed(2)}× by CPU time`;

const memory = (what: string, runs: readonly Grown[]): Figure =>
  figureOf(
    {
      row: ROW,
      what: `peak memory of ${what}`,
      goal: { most: MOST_MB },
      unit: 'MB',
      from: '1 GB in 20,000 files',
    },
    runs.map((one) => one.peakMB),
  );

const checking = async (bed: Bed, large: string): Promise<Figure[]> => {
  const each = await interleaved<string, Grown>(bed.repetitions, {
    check: () => runForPeak([...tool('bundle'), 'check', large]),
    sha256sum: () => runForPeak(['sha256sum', '-c', '--quiet', 'ARTIFACTS.sha256'], { cwd: large }),
  });
  const [ours, theirs] = [each['check']!, each['sha256sum']!];
  return [
    figureOf(
      {
        row: ROW,
        what: 'speed of `bundle check`, against `sha256sum -c`',
        goal: { least: 1 },
        unit: '×',
        from: `${shown(seconds(ours), 's')}, sha256sum ${shown(seconds(theirs), 's')}; ${perCpu(theirs, ours)}; check also computes the identity`,
      },
      ratios(seconds(theirs), seconds(ours)),
    ),
    memory('`bundle check`', ours),
  ];
};

const packing = async (bed: Bed, large: string): Promise<Figure[]> => {
  const about = {
    row: ROW,
    what: 'speed of `bundle pack`, against `tar | pigz`',
    goal: { least: 1 },
    unit: '×' as const,
  };
  const pigz = await peer('pigz');
  if ('why' in pigz) return [notMeasured(about, pigz.why)];
  const [out, other] = [join(bed.directory, 'packed.tar.gz'), join(bed.directory, 'pigz.tar.gz')];
  const digests = new Set<string>();
  const each = await interleaved<string, Grown>(bed.repetitions, {
    pack: async () => {
      const ran = await runForPeak([...tool('bundle'), 'pack', large, '--out', out]);
      // By a process of its own: a child's peak is never told as smaller than its parent's.
      digests.add((await run(['sha256sum', out], { keep: true })).stdout);
      return ran;
    },
    pigz: () => runForPeak(['sh', '-c', `tar -cf - -C "$1" . | '${pigz.path}' > "$2"`, 'sh', large, other]),
  });
  const [ours, theirs] = [each['pack']!, each['pigz']!];
  const size = statSync(out).size / statSync(other).size;
  return [
    figureOf(
      {
        ...about,
        from: `${shown(seconds(ours), 's')}, pigz ${shown(seconds(theirs), 's')}; ${perCpu(theirs, ours)}; ${size.toFixed(3)}× its size; ${digests.size === 1 ? 'the same bytes each time' : 'OTHER BYTES EACH TIME'}; every file checked on the way`,
      },
      ratios(seconds(theirs), seconds(ours)),
    ),
    memory('`bundle pack`', ours),
  ];
};

/** A recipe with a program of each language, built before. */
const nothingToDo = async (bed: Bed): Promise<Figure> => {
  const home = join(bed.directory, 'home');
  mkdirSync(home);
  const tree = sourceTree(bed.directory);
  const words = ['build', '--recipe', 'bundle.yaml', '--out', join(bed.directory, 'built')];
  const first = bundle(tree, { home }, ...words);
  if (first.exit !== 0) throw new Error(first.stderr);
  const runs: number[] = [];
  for (let at = 0; at < bed.repetitions; at++) {
    const from = performance.now();
    const again = bundle(tree, { home }, ...words);
    runs.push((performance.now() - from) / 1000);
    if (!again.stderr.includes('nothing to do')) throw new Error(again.stderr);
  }
  return figureOf(
    {
      row: ROW,
      what: '`bundle build` that has nothing to do',
      goal: { most: 1 },
      unit: 's',
      from: 'a Go, a cargo and a Bun program, npm packages, files; every toolchain asked for its version',
    },
    runs,
  );
};

export const bundles = async (bed: Bed): Promise<Figure[]> => {
  const large = join(bed.directory, 'large');
  await run([process.execPath, inTree('test/bench/large-bundle.ts'), large]);
  // Read once: neither contestant meets a cold disk.
  await run(['sh', '-c', 'find "$1" -type f -exec cat {} + >/dev/null', 'sh', large]);
  try {
    return [...(await checking(bed, large)), ...(await packing(bed, large)), await nothingToDo(bed)];
  } finally {
    rmSync(large, { recursive: true });
  }
};
