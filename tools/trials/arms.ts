/** Settings of the agents that k8sbench knows; '--arm-settings' gives others. A new one is a file and a row. */
import { type ArmSettings, armSettings } from '../../schemas/arm-settings.ts';
import { check } from '../../shared/read.ts';
import codex from './arms/codex.json';
import pi from './arms/pi.json';

/** Arm → its settings. */
export const ARMS: Readonly<Record<string, ArmSettings>> = Object.fromEntries(
  [pi, codex].map((value) => [value.arm, check(armSettings, { value }, `arms/${value.arm}.json`)]),
);
