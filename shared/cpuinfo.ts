/** CPU model and vector features from `/proc/cpuinfo` (spec §5). */

const FIRST = ['avx', 'avx2'];
const AVX512 = ['f', 'bw', 'cd', 'dq', 'vl', 'vbmi', '_vbmi2', '_bitalg'].map((one) => `avx512${one}`);
const LAST = ['gfni', 'bmi2', 'popcnt', 'asimd', 'sve', 'sve2'];

/** Fields of each processor's block, in file order. A field that stands before any block belongs to the first. */
const blocksOf = (cpuinfo: string): Map<string, string>[] =>
  cpuinfo
    .split(/\n\s*\n/)
    .map(
      (block) =>
        new Map(
          block
            .split('\n')
            .map((line) => line.split(':'))
            .filter((parts) => parts.length > 1)
            .map(([name, ...rest]) => [name!.trim(), rest.join(':').trim()] as const),
        ),
    )
    .filter((block) => block.has('processor'));

const partOf = (block: Map<string, string> | undefined): string | undefined => {
  const [implementer, part] = [block?.get('CPU implementer'), block?.get('CPU part')];
  return implementer && part ? `implementer ${implementer} part ${part}` : undefined;
};

export interface CpuInfo {
  /** `model name` of the first core, else its implementer and part; empty when neither is there. */
  model: string;
  /** Vector features of the first core, blank-separated, in the order of spec §5. */
  features: string;
  /** Implementer and part of each CPU where the kernel names them (arm64): cores that differ are of different types. */
  parts: Map<number, string>;
}

export const cpuInfo = (cpuinfo: string): CpuInfo => {
  const blocks = blocksOf(cpuinfo);
  const first = blocks[0];
  const listed = new Set((first?.get('flags') ?? first?.get('Features') ?? '').split(/\s+/));
  const other512 = [...listed].filter((one) => one.startsWith('avx512') && !AVX512.includes(one)).toSorted();
  const parts = new Map<number, string>();
  for (const block of blocks) {
    const part = partOf(block);
    if (part) parts.set(Number(block.get('processor')), part);
  }
  return {
    model: first?.get('model name') ?? partOf(first) ?? '',
    features: [...FIRST, ...AVX512, ...other512, ...LAST]
      .filter((one) => listed.has(one) || other512.includes(one))
      .join(' '),
    parts,
  };
};
