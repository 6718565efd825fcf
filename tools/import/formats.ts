/** The formats, one module each. A new one is a module and a row. */
import type { Format } from './found.ts';
import { goBench } from './formats/go-bench.ts';
import { googleBenchmark } from './formats/google-benchmark.ts';
import { hyperfine } from './formats/hyperfine.ts';
import { jmh } from './formats/jmh.ts';

export const FORMATS: Readonly<Record<string, Format>> = {
  hyperfine,
  'go-bench': goBench,
  'google-benchmark': googleBenchmark,
  jmh,
};
