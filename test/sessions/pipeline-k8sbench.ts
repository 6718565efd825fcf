#!/usr/bin/env bun
/**
 * `k8sbench` in the real outside, but where $RECORDED_LOG is set the pod program replays that log instead of measuring:
 * what a test puts on the PATH as `k8sbench`.
 */
import { realWorld } from '../../shared/world.ts';
import { main } from '../../tools/k8sbench/main.ts';

const world = realWorld();
const log = process.env['RECORDED_LOG'];
process.exitCode = await main(
  process.argv.slice(2),
  log === undefined ? world : Object.assign(world, { program: () => ['cat', log] }),
);
