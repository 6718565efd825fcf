/** tasks.lock: the tasks that agents are given, pinned to the last byte of their files and images. `trials lock` writes it. Spec §9. */
import * as v from 'valibot';
import { insidePath } from './manifest.ts';
import {
  amount,
  count,
  formatTag,
  instant,
  pinnedImage,
  revision,
  sha256,
  text,
  word,
} from './primitives.ts';

/** A limit of time or an amount of something, which is never nothing. */
const some = v.pipe(amount, v.gtValue(0, 'expected a number above 0'));

export const lockedTask = v.strictObject({
  /** The name of its directory. */
  name: word,
  /** What its pods run: the registry's digest of `tag` when it was locked; of an index when it is one. */
  image: pinnedImage,
  /** The image as task.toml names it. */
  tag: text,
  /** What the image can run on. */
  platforms: v.pipe(
    v.array(v.picklist(['amd64', 'arm64'], 'expected amd64 or arm64')),
    v.minLength(1, 'expected at least one platform'),
  ),
  /** Of the image's configuration: who its programs run as (`''`, `0` and `root` are root), and in which directory. */
  user: v.string('expected a text'),
  workdir: text,
  agent_timeout_s: some,
  verifier_timeout_s: some,
  /** What it asks for; absent: it does not say. */
  cpus: v.optional(some),
  memory_bytes: v.optional(some),
  storage_bytes: v.optional(some),
  /** Whether it says that it needs the network; its pods have the cluster's egress either way. */
  internet: v.boolean('expected true or false'),
  /** Variables for the agent and the verifier; never secrets: a task that takes them from its caller is left out. */
  env: v.optional(v.record(v.string(), v.string())),
  verifierEnv: v.optional(v.record(v.string(), v.string())),
  /** Every file but the solution's: path → digest; `x` when it is executable. */
  files: v.record(insidePath, v.strictObject({ sha256, x: v.optional(v.literal(true)) })),
  /** SHA-256 over the sha256sum lines of the files below tests/, paths from there, in bytewise order. */
  testsSha256: sha256,
  /** The same over all its files. */
  sha256,
});

export const tasksLock = v.strictObject({
  format: formatTag('tasks-lock/1'),
  dataset: v.strictObject({
    name: text,
    /** Where it is published; never with a user or a password. */
    url: v.optional(v.pipe(text, v.regex(/^https?:\/\/[^\s@]+$/, 'expected an address without a user'))),
    commit: revision,
    published: instant,
  }),
  /** In bytewise order of their names. */
  tasks: v.array(lockedTask),
  leftOut: v.array(v.strictObject({ name: text, reason: text })),
  /** How many there are, so that a cut file shows. */
  counts: v.strictObject({ tasks: count, leftOut: count }),
});

export type TasksLock = v.InferOutput<typeof tasksLock>;
export type LockedTask = v.InferOutput<typeof lockedTask>;
