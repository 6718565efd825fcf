/** `bundle image`: a bundle as the last layer of an image, in an OCI archive; the same bytes from the same base and bundle. */
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { archiveOf } from '../../shared/bundle/archive.ts';
import { compressed } from '../../shared/bundle/compressed.ts';
import type { Contents } from '../../shared/bundle/contents.ts';
import { EXIT, type Exit } from '../../shared/exit.ts';
import { failed, usage } from '../../shared/failure.ts';
import { sha256, sha256File, streamAtomically } from '../../shared/files.ts';
import { readProfile } from '../../shared/profiles/read.ts';
import type { Descriptor } from '../../shared/registry/manifest.ts';
import { formatReference, type ImageReference, parseReference } from '../../shared/registry/reference.ts';
import { bundleDirectory, checkBundle } from './check.ts';
import { openBase } from './image-base.ts';
import {
  annotationsOf,
  baseProblems,
  CONFIG_TYPE,
  configOf,
  type LaidUpon,
  LAYER_TYPE,
  MANIFEST_TYPE,
  manifestOf,
} from './image-config.ts';
import { pushArchive, skopeoProblem } from './image-push.ts';
import { withOwnDirectory } from './own-directory.ts';
import type { BundleCall } from './flags.ts';

/** Where a session's image has the artifacts (spec §4). */
const UNDER = 'opt/k8sbench/';
const NAME = 'localhost/k8sbench';
const LAYOUT = '{"imageLayoutVersion":"1.0.0"}';

/** Writes the bundle as a layer among the blobs. */
const writeLayer = async (
  contents: Contents,
  blobs: string,
): Promise<{ descriptor: Descriptor; diffId: string }> => {
  const unnamed = join(blobs, 'layer');
  const { parts, identity } = compressed(contents, { under: UNDER });
  await streamAtomically(unnamed, parts);
  const digest = await sha256File(unnamed);
  renameSync(unnamed, join(blobs, digest));
  const { size } = statSync(join(blobs, digest));
  return {
    descriptor: { mediaType: LAYER_TYPE, digest: `sha256:${digest}`, size },
    diffId: `sha256:${identity()}`,
  };
};

/** Writes a JSON value among the blobs. */
const writeBlob = (value: object, mediaType: string, blobs: string): Descriptor => {
  const text = JSON.stringify(value);
  const digest = sha256(text);
  writeFileSync(join(blobs, digest), text);
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
};

/** The files of a layout as an archive's: sorted, with fixed modes and times, as a bundle's are. */
const archived = (layout: string): Contents => {
  const blobs = readdirSync(join(layout, 'blobs/sha256')).map((name) => `blobs/sha256/${name}`);
  const files = [...blobs, 'index.json', 'oci-layout'].map((path) => ({
    path,
    size: statSync(join(layout, path)).size,
    executable: false,
  }));
  return { directory: layout, files, links: [], versions: {}, listed: new Map(), unlisted: [], problems: [] };
};

/** Lays the image out in a directory; gives the digest of its manifest. */
const layOut = async (
  laid: Omit<LaidUpon, 'layer'>,
  layout: string,
  reference: ImageReference,
): Promise<string> => {
  const blobs = join(layout, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const layer = await writeLayer(laid.contents, blobs);
  for (const one of laid.base.layers) {
    const path = join(blobs, one.digest.slice('sha256:'.length));
    // A base may have the same layer twice.
    if (!existsSync(path)) await laid.base.write(one, path);
  }
  const whole: LaidUpon = { ...laid, layer };
  const config = writeBlob(configOf(whole), CONFIG_TYPE, blobs);
  const manifest = writeBlob(manifestOf(whole, config), MANIFEST_TYPE, blobs);
  const tagged = formatReference(reference);
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...manifest,
        platform: { architecture: laid.contents.arch, os: 'linux' },
        annotations: {
          ...annotationsOf(whole),
          'io.containerd.image.name': tagged,
          'org.opencontainers.image.ref.name': tagged,
        },
      },
    ],
  };
  writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
  writeFileSync(join(layout, 'oci-layout'), LAYOUT);
  return manifest.digest;
};

const refused = ({ flags }: BundleCall): string[] => [
  ...(flags.out === undefined ? ["'bundle image' needs --out=<PATH>: the image's archive"] : []),
  ...(flags.base === undefined
    ? ["'bundle image' needs --base=<IMAGE>: a Node image by digest, an OCI layout or an archive of one"]
    : []),
  ...(flags.name !== undefined && flags.push !== undefined
    ? ["'--name' and '--push' exclude each other: what is pushed has the name that it is pushed to"]
    : []),
];

export const image = {
  about: 'DIR: a bundle upon a base image, as an OCI archive; prints its reference by digest',
  words: 1,
  flags: ['out', 'base', 'name', 'push', 'profile'] as const,
  async run(call: BundleCall): Promise<Exit> {
    const { world, talk, flags } = call;
    const shown = call.words[1]!;
    const directory = bundleDirectory(call, shown);
    const problems = refused(call);
    const unable = flags.push === undefined ? undefined : skopeoProblem(world.env);
    if (problems.length > 0 || unable) throw usage([...problems, ...(unable ? [unable] : [])]);
    const named = parseReference(flags.push ?? flags.name ?? NAME);
    const out = resolve(world.cwd, flags.out!);
    if (`${out}/`.startsWith(`${directory}/`))
      throw usage(`flag '--out': '${flags.out}' lies in the bundle itself; name another place`);
    const profile = flags.profile ? (await readProfile(flags.profile, world)).profile : undefined;
    const checked = await checkBundle(directory, shown, profile);
    if (checked.problems.length > 0) throw failed(checked.problems);
    const { contents, identity } = checked;
    const { arch } = contents;
    if (arch === undefined) throw failed(`bundle '${shown}': nothing says which architecture it is for`);
    return withOwnDirectory(join(dirname(out), `.${basename(out)}`), async (scratch) => {
      const base = await openBase(flags.base!, arch, scratch, world);
      const unfit = baseProblems(base, contents);
      if (unfit.length > 0) throw failed(unfit);
      if (/^[^@]*$/.test(flags.base!) && base.shown.includes('@'))
        talk.warn(
          `'${flags.base}' is a tag, which may be another image tomorrow; today it is '${base.shown}'`,
        );
      talk.info(`laying '${shown}' upon '${base.shown}'`);
      const layout = join(scratch, 'layout');
      const reference = {
        ...named,
        tag: named.tag === 'latest' || !named.tag ? identity.slice(0, 12) : named.tag,
      };
      const digest = await layOut({ base, contents, identity }, layout, reference);
      await streamAtomically(out, archiveOf(archived(layout)));
      if (flags.push !== undefined) await pushArchive(out, reference, digest, call);
      await talk.flushed();
      await world.stdout.write(`${formatReference({ ...named, digest })}\n`);
      return EXIT.done;
    });
  },
};
