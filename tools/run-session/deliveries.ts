import type { Run } from '../../schemas/run.ts';
import { bundle } from './cluster/bundle.ts';
import { image } from './cluster/cluster.ts';
import { local } from './local.ts';
import type { Delivery } from './task.ts';

/** How a run's artifacts reach the place where they run. Here, and nowhere else, the three ways part. */
const DELIVERIES: Readonly<Record<Run['delivery'], Delivery>> = { local, image, bundle };

/** The delivery that a run was planned with. */
export const deliveryOf = ({ delivery }: Run): Delivery => DELIVERIES[delivery];
