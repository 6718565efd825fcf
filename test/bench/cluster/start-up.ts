/** How soon a tool that can contact a cluster has said its version, against kubectl saying its own. */
import type { Bed } from '../bed.ts';
import type { Figure } from '../figure.ts';
import { startUpOf } from '../start-up.ts';

const TOOLS = ['run-session', 'pick-nodes', 'preflight'];

export const clusterStartUp = (bed: Bed): Promise<Figure[]> =>
  startUpOf(
    bed,
    TOOLS.map((name) => ({ name, how: 'compiled', goal: { most: 1 } })),
  );
