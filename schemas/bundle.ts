/** bundle.json: what a bundle was built from. Nothing of the machine, the user, the place or the time that built it. Spec §8. */
import * as v from 'valibot';
import { insidePath } from './manifest.ts';
import { count, formatTag, sha256, text } from './primitives.ts';

export const bundle = v.object({
  format: formatTag('bundle/1'),
  /** Of the source tree; ends with `-dirty` when it held more than its commit. */
  commit: text,
  arch: v.picklist(['amd64', 'arm64'], 'expected amd64 or arm64'),
  k8sbench: text,
  recipe: v.object({ path: text, sha256 }),
  /** Program → version, of everything that built a part of it. */
  toolchains: v.record(v.string(), text),
  artifacts: v.array(
    v.object({
      /** What it is called in messages: its kind and its place. */
      name: text,
      kind: text,
      /** Digest of everything that determines it. */
      key: sha256,
      /** Digest over its sources' paths, modes and contents; absent: none. */
      sources: v.optional(sha256),
      /** Lockfiles and archives that pin it: name → digest. */
      pins: v.record(v.string(), sha256),
      version: v.optional(text),
      files: count,
      size_bytes: count,
      /** Where its files stand. */
      paths: v.array(insidePath),
    }),
  ),
});

export type BundleFacts = v.InferOutput<typeof bundle>;
