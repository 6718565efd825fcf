/** The words after `tracker`, one module each. A new one is a module and a row. */
import { append } from './append.ts';
import { bisect } from './bisect.ts';
import type { TrackerVerb } from './call.ts';
import { changes } from './changes.ts';
import { show } from './show.ts';

export const VERBS: Readonly<Record<string, TrackerVerb>> = { append, show, changes, bisect };
