/** What `model` takes. */
import type { Call } from '../../shared/command-line.ts';
import { many, text, whole, yes } from '../../shared/flags.ts';
import { modelFlags } from '../../shared/task-run/models.ts';
import { settingFlags } from '../../shared/task-run/settings.ts';
import type { Verb } from '../../shared/verbs.ts';

export const printFlags = {
  ...modelFlags,
  staged: text("the staged bundle's SHA-256, as 'stage' prints it", 'SHA256'),
  hub: text("fetch from here instead of the lock's hub", 'URL'),
  'allow-open-network': yes('start the engine also where no network policy holds'),
  ...settingFlags,
};

export const lockFlags = {
  engine: text('lock: an engine of models.lock', 'NAME'),
  repository: text('lock: where the model is published', 'OWNER/NAME'),
  revision: text('lock: its revision in full', 'SHA'),
  published: text("lock: when that was published (default: the listing's last change)", 'TIME'),
  dir: text('lock: a directory with its files', 'DIR'),
  listing: text("lock: a copy of the hub's listing (/api/models/OWNER/NAME/revision/SHA?blobs=true)", 'FILE'),
  file: many(text('lock: only files that fit this pattern', 'PATTERN')),
  arg: many(text("lock: added to the engine's command", 'WORD')),
  'context-tokens': whole('lock: tokens that the model takes at most', 'N', { min: 1 }),
};

export const flags = { ...printFlags, json: yes('print JSON'), ...lockFlags };

export type ModelCall = Call<typeof flags>;
export type ModelVerb = Verb<typeof flags>;
