/** run.json: a run's identity and the digests of what it was planned from. Written once, by `plan`. No secrets. */
import * as v from 'valibot';
import {
  amount,
  count,
  delivery,
  dnsLabel,
  formatTag,
  instant,
  mode,
  positive,
  sha256,
  text,
} from './primitives.ts';

export const run = v.object({
  format: formatTag('run/1'),
  run: dnsLabel,
  mode,
  planned_at: instant,
  delivery,
  /** This machine's name; local delivery counts as pinned to it. */
  host: v.optional(text),
  /** Nodes asked for by `--node` or `--nodes`. */
  nodes: v.optional(v.array(text)),
  pickNode: v.optional(v.boolean()),
  /** Nodes to spread over; absent: one. */
  spread: v.optional(positive),
  /** Sessions with new fixtures and pods, in turn; absent: one. */
  sessions: v.optional(positive),
  /** Ids of the children that a run of several sessions has. */
  children: v.optional(v.array(dnsLabel)),
  /** The run that this one is a child of. */
  parent: v.optional(dnsLabel),
  profile: text,
  rule: text,
  turns: v.array(positive),
  rounds: count,
  /** Commit of the artifacts, when they say one. */
  commit: v.optional(text),
  /** `{root}` of local delivery, or the bundle's directory: an absolute path on this machine. */
  root: v.optional(text),
  /** Local delivery: target → absolute path of the program that it starts. */
  programs: v.optional(v.record(v.string(), text)),
  /** Architecture of the artifacts, as Kubernetes writes it; absent: not known, as with an image. */
  arch: v.optional(v.picklist(['amd64', 'arm64'], 'expected amd64 or arm64')),
  /** SHA-256 of the bundle's uncompressed archive: its identity. */
  bundleSha256: v.optional(sha256),
  /** Where plain commands run: an absolute path on this machine. */
  cwd: v.optional(text),
  /** auto, wall or cpu, as asked. */
  gate: v.picklist(['auto', 'wall', 'cpu']),
  maxCv: amount,
  /** Differences up to this share are the same; absent: the analysis's default. */
  margin: v.optional(amount),
  calibration: v.optional(v.object({ path: text, sha256 })),
  /** The effect that the rounds were planned for, and the run whose noise said how many. */
  forEffect: v.optional(
    v.object({ effect: amount, power: amount, rounds: positive, from: v.object({ path: text, sha256 }) }),
  ),
  /** main, pr, bisect, …: what the run is for. */
  purpose: v.optional(text),
  /** Digests of this directory's plan.json, profile.json and values.json. */
  files: v.record(v.string(), sha256),
  /** Digest over everything that was asked; `plan --run` skips a directory with the same one. */
  inputsSha256: sha256,
  /** The longest the session may take, s, from its limits. */
  session_s: v.optional(amount),
});
export type Run = v.InferOutput<typeof run>;
