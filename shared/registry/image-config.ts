/** What an image says of itself: its configuration (image specification 1.1, "Image Configuration"). */
import { failed } from '../failure.ts';
import type { Registry } from './client.ts';
import type { Descriptor, Manifest } from './manifest.ts';
import type { ImageReference } from './reference.ts';

/** The largest configuration that is read, bytes. */
const LARGEST = 4 << 20;

export interface ImageConfig {
  architecture?: string;
  os?: string;
  config?: { User?: string; WorkingDir?: string };
}

/** The configuration that an image's manifest names, its bytes checked; an error says what of it can't be read. */
export const imageConfig = async (
  registry: Registry,
  at: ImageReference,
  manifest: Manifest,
  shown: string,
): Promise<ImageConfig> => {
  const { config } = manifest.value as { config?: Descriptor };
  if (typeof config?.digest !== 'string' || !(config.size <= LARGEST))
    throw failed(`image '${shown}' has no configuration that can be read`);
  const parts: Uint8Array[] = [];
  for await (const part of registry.blob(at, config)) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as ImageConfig;
};
