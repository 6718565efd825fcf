/**
 * What goes wrong in a cluster, made to happen: fault → message → exit status, with nothing left and nothing lost. Those of the
 * API server and of bundles are met in api-server.test.ts and ../run-session-bundle.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Fault, meet } from '../fault.ts';
import { NAMED, TABLE } from '../fault-table.ts';
import { ON_NODE } from '../fault-table-node.ts';
import { RUNNING } from '../fault-table-run.ts';
import { STARTING } from '../fault-table-start.ts';
import { restartControllers } from '../faults.ts';
import { type Bed, makeBed } from '../session-runs.ts';
import { lanes } from '../side-by-side.ts';
import { ownDirectory } from '../the-cluster.ts';

/** More side by side would be slow on two cores. */
const PLACES = { 'node-1': 5, 'node-2': 1 };
/** All of a lane may stand before one. */
const PATIENCE_MS = 600_000;

let bed: Bed;
let ended: Map<string, Promise<void>>;
beforeAll(async () => {
  await restartControllers(ownDirectory!);
  bed = await makeBed('faults');
  const rows = (lane: string, table: Readonly<Record<string, Fault>>) =>
    Object.entries(table).map(([name, fault]) => [name, { lane, begin: () => meet(bed, fault) }] as const);
  // The slowest first: those of the node go one after another.
  ended = lanes(
    new Map([...rows('node-2', ON_NODE), ...rows('node-1', STARTING), ...rows('node-1', RUNNING)]),
    PLACES,
  );
}, 120_000);
afterAll(() => bed.remove());

test('whatever has a name has a row', () => {
  const rows = new Set(Object.values(TABLE).flatMap((group) => Object.keys(group)));
  expect(
    Object.values(NAMED)
      .flat()
      .filter((one) => !rows.has(one)),
  ).toEqual([]);
});

const GROUPS = { 'before it runs': STARTING, 'while it runs': RUNNING, 'of its node': ON_NODE };

describe.each(Object.entries(GROUPS))('%s', (_, table) =>
  test.each(Object.keys(table))('%s', (name) => ended.get(name)!, PATIENCE_MS),
);
