/** A line of imported.jsonl: the history of imported ratios, which `view --track` and `tracker changes` read. Pure. */
import type { Analysis } from '../../schemas/analysis.ts';

const NOT_KNOWN = 'not known';

/** What is known of the machine, by the words that formats have for it. */
const nodeTypeOf = (machine: Readonly<Record<string, string | number>>) => ({
  cpuModel: machine['cpu'] ?? machine['host_name'] ?? NOT_KNOWN,
  cpuFeatures: NOT_KNOWN,
  gomaxprocs: machine['gomaxprocs'] ?? machine['num_cpus'] ?? NOT_KNOWN,
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
      nodeType: nodeTypeOf(imported!.machine),
      candidate,
      reference,
      identities: commit === '' ? {} : { [candidate]: { commit } },
      purpose,
      conclusions,
    },
  });
};
