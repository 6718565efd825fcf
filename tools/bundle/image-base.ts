/** The image that a bundle is laid upon: from an OCI layout, an archive of one, or a registry; every blob checked by its digest. */
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Arch } from '../../schemas/recipe.ts';
import { failed, usage } from '../../shared/failure.ts';
import { sha256, streamAtomically } from '../../shared/files.ts';
import { credentialsOf } from '../../shared/registry/access.ts';
import { registryClient } from '../../shared/registry/client.ts';
import {
  type Descriptor,
  forPlatform,
  type Manifest,
  manifestValue,
} from '../../shared/registry/manifest.ts';
import { DIGEST, formatReference, parseReference } from '../../shared/registry/reference.ts';
import type { World } from '../../shared/world.ts';
import { takeMembers, takeTree } from './members.ts';

export interface BaseImage {
  /** As it is told: a reference by digest, or the layout's name. */
  shown: string;
  digest: string;
  layers: Descriptor[];
  config: Record<string, unknown>;
  /** Writes a layer's bytes to a file. */
  write(layer: Descriptor, path: string): Promise<void>;
}

/** Where blobs come from. */
interface Blobs {
  shown: string;
  manifest(descriptor: Descriptor): Promise<Manifest>;
  blob(descriptor: Descriptor): AsyncIterable<Uint8Array>;
}

/** Bytes with the digest and length that they should have, or an error at their end. */
async function* checked(
  parts: AsyncIterable<Uint8Array>,
  { digest, size }: Descriptor,
  shown: string,
): AsyncGenerator<Uint8Array> {
  const hash = new Bun.CryptoHasher('sha256');
  let got = 0;
  for await (const part of parts) {
    got += part.length;
    hash.update(part);
    yield part;
  }
  if (got !== size || `sha256:${hash.digest('hex')}` !== digest)
    throw failed(`image '${shown}': blob ${digest} is not the ${size} bytes that it should be`);
}

const LARGEST_CONFIG = 16 << 20;

const whole = async (parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part.slice());
  return Buffer.concat(all);
};

const isDescriptor = (one: unknown): one is Descriptor =>
  typeof one === 'object' &&
  one !== null &&
  DIGEST.test(String((one as Descriptor).digest)) &&
  Number.isSafeInteger((one as Descriptor).size) &&
  typeof (one as Descriptor).mediaType === 'string';

const partsOf = (found: Manifest, shown: string): { config: Descriptor; layers: Descriptor[] } => {
  const { config, layers } = found.value;
  if (!isDescriptor(config) || !Array.isArray(layers) || !layers.every(isDescriptor))
    throw failed(`image '${shown}': its manifest names no config and layers by SHA-256`);
  if (config.size > LARGEST_CONFIG) throw failed(`image '${shown}': its config has ${config.size} bytes`);
  return { config, layers };
};

/** The image of an architecture, of whatever a place holds. */
const imageOf = async (blobs: Blobs, found: Manifest, arch: Arch): Promise<BaseImage> => {
  const { shown } = blobs;
  const one = forPlatform(found, arch, shown);
  const image = one ? await blobs.manifest(one) : found;
  const { config, layers } = partsOf(image, shown);
  const text = await whole(checked(blobs.blob(config), config, shown));
  return {
    shown,
    digest: image.digest,
    layers,
    config: manifestValue(text, shown),
    write: (layer, path) => streamAtomically(path, checked(blobs.blob(layer), layer, shown)),
  };
};

const fromRegistry = async (given: string, arch: Arch, world: World): Promise<BaseImage> => {
  const reference = parseReference(given);
  const registry = registryClient({ interrupted: world.interrupted, credentials: credentialsOf(world.env) });
  const found = await registry.manifest(reference);
  const { registry: host, repository } = reference;
  const shown = formatReference({ ...reference, digest: found.digest });
  const blobs: Blobs = {
    shown,
    manifest: ({ digest }) => registry.manifest({ registry: host, repository, digest }),
    blob: (one) => registry.blob(reference, one),
  };
  return imageOf(blobs, found, arch);
};

const blobPath = (layout: string, { digest }: Descriptor): string => {
  if (!DIGEST.test(digest)) throw failed(`image layout: '${digest}' is no SHA-256`);
  return join(layout, 'blobs/sha256', digest.slice('sha256:'.length));
};

/** An OCI layout (image specification 1.1, "Image Layout"). */
const fromLayout = async (layout: string, shown: string, arch: Arch): Promise<BaseImage> => {
  const index = manifestValue(readFileSync(join(layout, 'index.json')), shown);
  const all = Array.isArray(index['manifests']) ? index['manifests'].filter(isDescriptor) : [];
  const fits = all.length === 1 ? all : all.filter(({ platform }) => platform?.architecture === arch);
  if (fits.length !== 1)
    throw usage(
      `flag '--base': '${shown}' holds ${all.length} images, ${fits.length} of them for ${arch}; name a layout of one`,
    );
  const manifest = async (one: Descriptor): Promise<Manifest> => {
    const path = blobPath(layout, one);
    if (!existsSync(path)) throw failed(`image '${shown}': it has no blob ${one.digest}`);
    const bytes = readFileSync(path);
    const digest = `sha256:${sha256(bytes)}`;
    if (digest !== one.digest) throw failed(`image '${shown}': blob ${one.digest} has the digest ${digest}`);
    const value = manifestValue(bytes, shown);
    return { digest, mediaType: String(value['mediaType'] ?? one.mediaType), bytes, value };
  };
  const blobs: Blobs = {
    shown,
    manifest,
    blob: (one) => {
      const path = blobPath(layout, one);
      if (!existsSync(path)) throw failed(`image '${shown}': it has no blob ${one.digest}`);
      return createReadStream(path, { highWaterMark: 1 << 20 });
    },
  };
  return imageOf(blobs, await manifest(fits[0]!), arch);
};

/** What `--base` names: a directory with a layout, an archive of one, or an image of a registry. `scratch` holds an archive's parts. */
export const openBase = async (
  given: string,
  arch: Arch,
  scratch: string,
  world: World,
): Promise<BaseImage> => {
  const path = resolve(world.cwd, given);
  const about = statSync(path, { throwIfNoEntry: false });
  if (about?.isDirectory()) {
    if (!existsSync(join(path, 'oci-layout')) || !existsSync(join(path, 'index.json')))
      throw usage(`flag '--base': '${given}' is no OCI layout; it has no oci-layout and index.json`);
    return fromLayout(path, given, arch);
  }
  if (about?.isFile()) {
    mkdirSync(scratch, { recursive: true });
    const into = mkdtempSync(join(scratch, 'base-'));
    await takeMembers(path, basename(given), about.size, new Map([['index.json', join(into, 'index.json')]]));
    await takeTree(path, basename(given), about.size, 'blobs', into);
    return fromLayout(into, given, arch);
  }
  if (about) throw usage(`flag '--base': '${given}' is neither an OCI layout nor an archive of one`);
  if (/^[./]|\.tar$/.test(given)) throw usage(`flag '--base': '${given}' does not exist`);
  return fromRegistry(given, arch, world);
};
