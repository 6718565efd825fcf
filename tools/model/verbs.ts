/** The words after `model`. A new one is a module and a row. */
import type { ModelVerb } from './flags.ts';
import { lock } from './lock.ts';
import { print } from './print.ts';

export const VERBS: Readonly<Record<string, ModelVerb>> = { print, lock };
