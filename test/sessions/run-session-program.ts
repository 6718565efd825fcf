#!/usr/bin/env bun
/** run-session as a process of its own, around the pod program of {@link podProgram}: arguments `<fault> <pause> <args…>`. */
import { realWorld, type World } from '../../shared/world.ts';
import { main } from '../../tools/run-session/main.ts';
import { type Fault, podProgram } from './run-session-fixture.ts';

const [fault, pause, ...args] = process.argv.slice(2);
const world: World = Object.assign(realWorld(), {
  program: () => podProgram(fault === 'none' ? undefined : (fault as Fault), Number(pause)),
});
process.exitCode = await main(args, world);
