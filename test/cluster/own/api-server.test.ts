/** Sessions while their API server is killed, forgets, and stands still. */
import { afterAll, beforeAll, test } from 'bun:test';
import { meet } from '../fault.ts';
import { OF_SERVER } from '../fault-table-server.ts';
import { type Bed, grants, makeBed } from '../session-runs.ts';

/** Machines may be busy. */
const PATIENCE_MS = 240_000;

let bed: Bed;
beforeAll(async () => {
  bed = await makeBed('api', grants().get('k8sbench-bundle')!);
}, 120_000);
afterAll(() => bed.remove());

test.each(Object.entries(OF_SERVER))('%s', (_, fault) => meet(bed, fault), PATIENCE_MS);
