#!/usr/bin/env bun
/** Benchmarks of pick-nodes as ratios within one run: `main.ts [offline] [live]`; both without a word. Exit 1 when a goal is missed. */
import { liveBench } from './live.ts';
import { tell } from './measured.ts';
import { offlineBench } from './offline.ts';

const asked = process.argv.slice(2);
const goals = [
  ...(asked.length === 0 || asked.includes('offline') ? await offlineBench() : []),
  ...(asked.length === 0 || asked.includes('live') ? await liveBench() : []),
];
process.exitCode = tell(goals) ? 0 : 1;
