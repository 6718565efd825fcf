/** The config and manifest of a base image with one layer more. Pure: the same base and bundle give the same bytes. Image specification 1.1. */
import { failed } from '../../shared/failure.ts';
import type { Descriptor } from '../../shared/registry/manifest.ts';
import type { Contents } from '../../shared/bundle/contents.ts';
import type { BaseImage } from './image-base.ts';

const OCI = 'application/vnd.oci.image';
export const MANIFEST_TYPE = `${OCI}.manifest.v1+json`;
export const CONFIG_TYPE = `${OCI}.config.v1+json`;
export const LAYER_TYPE = `${OCI}.layer.v1.tar+gzip`;
/** When everything of ours was made. */
const EPOCH = '1970-01-01T00:00:00Z';

/** Docker's names of what OCI names otherwise: the bytes are the same. */
const LAYER_TYPES: Readonly<Record<string, string>> = {
  'application/vnd.docker.image.rootfs.diff.tar.gzip': LAYER_TYPE,
  'application/vnd.docker.image.rootfs.diff.tar': `${OCI}.layer.v1.tar`,
  [LAYER_TYPE]: LAYER_TYPE,
  [`${OCI}.layer.v1.tar`]: `${OCI}.layer.v1.tar`,
  [`${OCI}.layer.v1.tar+zstd`]: `${OCI}.layer.v1.tar+zstd`,
};

const isMap = (one: unknown): one is Record<string, unknown> =>
  typeof one === 'object' && one !== null && !Array.isArray(one);

/** What keeps a bundle from running on a base image, as far as its config tells. */
export const baseProblems = (
  { config, layers, shown }: BaseImage,
  { arch, versions, files }: Contents,
): string[] => {
  const problems: string[] = [];
  const say = (what: string): void => void problems.push(`base image '${shown}': ${what}`);
  if (config['os'] !== 'linux' || config['architecture'] !== arch)
    say(`it is for ${String(config['os'])}/${String(config['architecture'])}, the bundle for linux/${arch}`);
  for (const { mediaType, digest } of layers)
    if (!LAYER_TYPES[mediaType]) say(`layer ${digest} is of kind '${mediaType}', which can't be carried on`);
  const rootfs = config['rootfs'];
  if (!isMap(rootfs) || !Array.isArray(rootfs['diff_ids']) || rootfs['diff_ids'].length !== layers.length)
    say('its config and its manifest name different numbers of layers');
  const env = isMap(config['config']) ? config['config']['Env'] : undefined;
  // Official Node images say their release so.
  const release = (Array.isArray(env) ? env : []).map(
    (one) => /^NODE_VERSION=(\d+\.\d+\.\d+)$/.exec(String(one))?.[1],
  );
  const has = release.find((one) => one !== undefined);
  const wanted = versions['node'];
  const own = files.some(({ path }) => path === 'bin/node');
  if (has !== undefined && wanted !== undefined && !own && wanted !== `v${has}`)
    say(`it has Node v${has}, the bundle is for ${wanted}`);
  return problems;
};

export interface LaidUpon {
  base: BaseImage;
  contents: Contents;
  /** Of the bundle. */
  identity: string;
  layer: { descriptor: Descriptor; diffId: string };
}

/** What an image of ours says of itself. */
export const annotationsOf = ({ base, contents, identity }: LaidUpon): Record<string, string> => ({
  'io.k8sbench.bundle.sha256': identity,
  ...(contents.commit === undefined ? {} : { 'org.opencontainers.image.revision': contents.commit }),
  'org.opencontainers.image.base.digest': base.digest,
});

/** The image's config: the base's own, with the layer and what it holds. */
export const configOf = (laid: LaidUpon): Record<string, unknown> => {
  const { config } = laid.base;
  const inner = isMap(config['config']) ? config['config'] : {};
  const rootfs = config['rootfs'] as { diff_ids: string[] };
  const history = Array.isArray(config['history']) ? config['history'] : [];
  const labels = isMap(inner['Labels']) ? inner['Labels'] : {};
  return {
    ...config,
    created: EPOCH,
    config: { ...inner, Labels: { ...labels, ...annotationsOf(laid) } },
    rootfs: { ...rootfs, type: 'layers', diff_ids: [...rootfs.diff_ids, laid.layer.diffId] },
    history: [...history, { created: EPOCH, created_by: 'k8sbench bundle image', comment: 'a bundle' }],
  };
};

/** The image's manifest. */
export const manifestOf = (laid: LaidUpon, config: Descriptor): Record<string, unknown> => ({
  schemaVersion: 2,
  mediaType: MANIFEST_TYPE,
  config,
  layers: [
    ...laid.base.layers.map(({ mediaType, digest, size }) => {
      const type = LAYER_TYPES[mediaType];
      if (type === undefined) throw failed(`layer ${digest} is of kind '${mediaType}'`);
      return { mediaType: type, digest, size };
    }),
    laid.layer.descriptor,
  ],
  annotations: annotationsOf(laid),
});
