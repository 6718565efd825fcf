/** The part of ../README.md about clusters. */
import type { Figure } from '../figure.ts';
import type { Machine } from '../machine.ts';
import { machineText, markdown } from '../report.ts';

export const clusterPart = (figures: readonly Figure[], machine: Machine): string => `\
\`make bench-cluster\` (\`bun test/bench/cluster/main.ts [ROW…] [--repetitions N] [--json]\`), as root on Linux, measures in a cluster
of two nodes that it starts on this machine, and writes this part. The nodes, the API server and what
is measured share the machine's cores: what costs time on one side costs it on the other, so these ratios are harder to
reach than between machines of their own. The nodes' files are on an ext4 with a journal, in a file, as nodes have it.

${machineText(machine)}

${markdown(figures)}

- **delivery**: a bundle of Bun, two releases of Node and this repository's npm packages. Ours from the start of its container until all
  is unpacked there: packed and compressed on the way, SHA-256 of the archive and of every file. kubectl cp packs and unpacks, and verifies
  nothing; its pod runs already, with the same limits. Memory is that of the whole run-session.
- **submit**: sessions of \`true\` in an image that the node has, from the start of run-session until its first sample is in the run
  directory: connection, Job, pod, Node, facts, pin, two seeds. The bare Job starts \`node --version\` in the same image, and kubectl
  waits until it is complete; or it sleeps, and kubectl waits until its status tells of a ready pod: then nothing of it has run yet.
- **start-up**: \`--version\`, started as any program is; kubectl is the one on the PATH, or \`$KUBECTL\`.
- **pick-nodes**: offline, \`kubectl get nodes,pods -A -o json\` of 5,000 nodes and 150,000 pods; jq does the same sums and must come to the same
  numbers. Live, from an API server with 1,000 nodes and 30,000 pods; the bare fetch asks for pages of 500 pods and parses them.
`;
