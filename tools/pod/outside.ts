import type { Machine } from '../../shared/machine.ts';
import type { Output } from './lines.ts';

/** What a session takes from outside. */
export interface Outside {
  /** JSON text of the plan. */
  plan(): Promise<string>;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  host: string;
  machine: Machine;
  output: Output;
  /** ms since the epoch. */
  now(): number;
  random(bytes: number): Uint8Array;
  /** Aborted with the signal's name as reason. */
  interrupted: AbortSignal;
}
