/** A line of imported.jsonl: the history of imported ratios, which `view --track` and `tracker changes` read. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';

const NOT_KNOWN = 'not known';

type Machine = Readonly<Record<string, string | number>>;

/** The first of these facts that is known; of two machines both, `a against b`. */
const factOf = (machine: Machine, names: readonly string[], targets: readonly string[]): string | number => {
  for (const name of names) {
    const apart = targets.map((target) => machine[`${name} of ${target}`]);
    const is = machine[name] ?? (apart.includes(undefined) ? undefined : apart.join(' against '));
    if (is !== undefined) return is;
  }
  return NOT_KNOWN;
};

/** What is known of the machine, by the words that formats have for it. */
const nodeTypeOf = (machine: Machine, targets: readonly string[]) => ({
  cpuModel: factOf(machine, ['cpu', 'host_name'], targets),
  cpuFeatures: NOT_KNOWN,
  gomaxprocs: factOf(machine, ['gomaxprocs', 'num_cpus'], targets),
});

/** No tracker line: no verdicts, no rolling medians, no baseline. */
export const ratiosLine = (analysis: Analysis, purpose: string): string => {
  const { comparisons, conclusions, imported, commit } = analysis;
  const { candidate, reference, rule, turns, values } = comparisons[0]!;
  return JSON.stringify({
    at: analysis.measured_at,
    rule,
    core: commit.slice(0, 10),
    turns,
    run: analysis.run,
    origin: 'imported',
    values,
    more: {
      values,
      nodeType: nodeTypeOf(imported!.machine, [reference, candidate]),
      candidate,
      reference,
      identities: commit === '' ? {} : { [candidate]: { commit } },
      purpose,
      conclusions,
    },
  });
};
