/** The words after `trials`, one module each. A new one is a module and a row. */
import { apply } from './apply.ts';
import { collect } from './collect.ts';
import type { TrialsVerb } from './flags.ts';
import { lock } from './lock.ts';
import { print } from './print.ts';
import { score } from './score.ts';

export const VERBS: Readonly<Record<string, TrialsVerb>> = { lock, print, apply, collect, score };
