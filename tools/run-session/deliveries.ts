import type { Run } from '../../schemas/run.ts';
import { usage } from '../../shared/failure.ts';
import { local } from './local.ts';
import type { Delivery } from './task.ts';

/** How a run's artifacts reach the place where they run. Here, and nowhere else, the three ways part. */
const DELIVERIES: Partial<Record<Run['delivery'], Delivery>> = { local };

export const deliveryOf = ({ run, delivery }: Run): Delivery => {
  const found = DELIVERIES[delivery];
  if (!found)
    throw usage(
      `run '${run}' is planned for delivery '${delivery}', which this version can't measure; plan it with '--local'`,
    );
  return found;
};
