/** `go test -bench -count N`: a line for each sample (golang.org/design/14313-benchmark-format). Pure. */
import { failed } from '../../../shared/failure.ts';
import type { Format, Found, FoundMetric } from '../found.ts';
import { put } from '../units.ts';

const LINE = /^(Benchmark[^\s]*)\s+(\d+)\s+(.+)$/;
const CONFIGURATION = /^([a-z][^\s:A-Z]*):\s+(.*)$/;
const UNIT = /^Unit\s+(\S+)\s+(.+)$/;

/** Lines of a configuration that tell one machine from another. */
const OF_MACHINE: ReadonlySet<string> = new Set(['cpu', 'goos', 'goarch']);
/** The name ends in GOMAXPROCS, unless that is 1. */
const NAME = /^(.*?)(?:-(\d+))?$/;

/** The numbers of cores in a file, as its names end in them. */
const coresIn = (written: string): Set<string> =>
  new Set(
    written.split('\n').flatMap((line) => {
      const name = LINE.exec(line)?.[1];
      return name === undefined ? [] : [NAME.exec(name)![2] ?? '1'];
    }),
  );

/** Units that the testing package writes, as measures. */
const KNOWN: Readonly<Record<string, FoundMetric>> = {
  'ns/op': { key: 'time', unit: 'ns', basis: 'wall', better: 'lower' },
  'B/op': { key: 'allocatedBytes', unit: 'B', basis: 'count', better: 'lower' },
  'allocs/op': { key: 'allocations', unit: 'allocations', basis: 'count', better: 'lower' },
  'MB/s': { key: 'throughput', unit: 'MB/s', basis: 'count', better: 'higher' },
};

/** `items/op` → itemsPerOp. */
const keyOf = (unit: string): string => {
  const [first = '', ...rest] = unit.replaceAll('/', ' per ').match(/[A-Za-z0-9]+/g) ?? [];
  const words = [
    first.charAt(0).toLowerCase() + first.slice(1),
    ...rest.map((one) => one.charAt(0).toUpperCase() + one.slice(1)),
  ];
  return words.join('').replace(/^[^a-z]+/, '') || 'value';
};

/** The values of one line: unit → value. */
const valuesOf = (rest: string, where: string): [unit: string, value: number][] => {
  const words = rest.trim().split(/\s+/);
  return Array.from({ length: Math.floor(words.length / 2) }, (_, at) => {
    const [digits, unit] = [words[2 * at]!, words[2 * at + 1]!];
    const value = Number(digits);
    if (!Number.isFinite(value))
      throw failed(`${where}: expected a finite number of ${unit}, found '${digits}'`);
    return [unit, value];
  });
};

export const goBench: Format = {
  about: 'go test -bench, with -count for samples; benchfmt as others write it',
  program: 'go test -bench',
  averaged: true,
  read(written, place) {
    const benchmarks = new Map<string, Found>();
    const machine: Record<string, string | number> = {};
    const better = new Map<string, 'lower' | 'higher'>();
    const many = coresIn(written).size > 1;
    for (const [at, line] of written.split('\n').entries()) {
      const unit = UNIT.exec(line);
      if (unit) {
        const direction = /\bbetter=(lower|higher)\b/.exec(unit[2]!)?.[1];
        if (direction) better.set(unit[1]!, direction as 'lower' | 'higher');
        continue;
      }
      const configuration = CONFIGURATION.exec(line);
      if (configuration) {
        const [name, value] = [configuration[1]!, configuration[2]!.trim()];
        if (OF_MACHINE.has(name) && machine[name] !== undefined && machine[name] !== value)
          throw failed(
            `${place}:${at + 1}: ${name} is '${value}' here and '${machine[name]}' above: measurements of two machines; keep each in a file of its own`,
          );
        machine[name] ??= value;
        continue;
      }
      const found = LINE.exec(line);
      if (!found) continue;
      const [, plain, cores] = NAME.exec(found[1]!)!;
      // `-cpu 1,2,4` measures each benchmark on several numbers of cores: not samples of one.
      const name = many ? found[1]! : plain!;
      if (cores !== undefined && !many) machine['gomaxprocs'] = Number(cores);
      const benchmark = benchmarks.get(name) ?? { name, metrics: [], samples: [] };
      benchmarks.set(name, benchmark);
      const sample: Record<string, number> = {};
      for (const [as, value] of valuesOf(found[3]!, `${place}:${at + 1}`)) {
        const metric = KNOWN[as] ?? {
          key: keyOf(as),
          unit: as,
          basis: 'count',
          better: better.get(as) ?? 'lower',
        };
        put(sample, benchmark, metric, value, `${place}:${at + 1}`);
      }
      benchmark.samples.push(sample);
    }
    if (benchmarks.size === 0)
      throw failed(`${place}: no line of a benchmark in it; 'go test -bench . -count 10 > FILE' writes them`);
    return { benchmarks: [...benchmarks.values()], machine };
  },
};
