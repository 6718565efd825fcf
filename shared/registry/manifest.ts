/** What registries and OCI layouts hold: manifests of images, and indexes that name one for each kind of machine (image specification 1.1). */
import { failed, usage } from '../failure.ts';
import { DIGEST } from './reference.ts';

/** A blob or manifest as others name it. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { os?: string; architecture?: string; variant?: string };
  annotations?: Record<string, string>;
}

/** A manifest or index: its exact bytes, and the value that they are. */
export interface Manifest {
  digest: string;
  mediaType: string;
  bytes: Uint8Array;
  value: Record<string, unknown>;
}

export const INDEXES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
export const MANIFESTS = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
/** A manifest's JSON; anything else is an error that names the image. */
export const manifestValue = (bytes: Uint8Array, shown: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw failed(`image '${shown}': its manifest is no JSON object`);
  return value as Record<string, unknown>;
};

/** What an index lists. */
const listed = ({ value }: Manifest): Descriptor[] =>
  Array.isArray(value['manifests']) ? (value['manifests'] as Descriptor[]) : [];

/** Architectures for which an index has an image for Linux. */
export const architecturesOf = (index: Manifest): string[] => [
  ...new Set(
    listed(index).flatMap(({ platform }) =>
      platform?.os === 'linux' && typeof platform.architecture === 'string' ? [platform.architecture] : [],
    ),
  ),
];

/** Of an index, the image for Linux on an architecture; of a manifest, itself. Attestations and other systems are passed over. */
export const forPlatform = (found: Manifest, arch: string, shown: string): Descriptor | undefined => {
  if (MANIFESTS.includes(found.mediaType)) return undefined;
  if (!INDEXES.includes(found.mediaType))
    throw failed(`image '${shown}' is of kind '${found.mediaType}'; images and indexes are read`);
  const all = listed(found);
  const fits = all.filter(
    ({ platform, digest }) =>
      platform?.os === 'linux' && platform.architecture === arch && DIGEST.test(digest),
  );
  // The baseline of an architecture before its variants: those may need what a node lacks.
  const one =
    fits.find(
      ({ platform }) => !platform?.variant || platform.variant === 'v8' || platform.variant === 'v1',
    ) ?? fits[0];
  if (one) return one;
  const has = all.map(({ platform }) => `${platform?.os}/${platform?.architecture}`).join(', ');
  throw usage(`image '${shown}' has nothing for linux/${arch}; it has ${has || 'nothing'}`);
};
