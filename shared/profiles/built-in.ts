/** The profiles that come with k8sbench, by name; their programs stand in `shared/workloads`. */
import * as v from 'valibot';
import { type Profile, profile } from '../../schemas/profile.ts';
import { AGENT_PROFILES } from './agents.ts';
import durableStore from './durable-store.json' with { type: 'json' };
import runtimes from './runtimes.json' with { type: 'json' };

export const BUILT_IN: Readonly<Record<string, Profile>> = Object.fromEntries(
  [durableStore, runtimes, ...AGENT_PROFILES].map((one) => [one.name, v.parse(profile, one)]),
);

/** The first Node that runs the programs of these profiles: TypeScript as it is, and `node:sqlite`. */
export const NODE_MAJOR = 24;

/** What is measured when nothing else is asked for. */
export const DEFAULT_PROFILE = 'durable-store';
