/** Sends an image's archive to a registry through skopeo, and asks the registry for what arrived. */
import { failed } from '../../shared/failure.ts';
import { credentialsOf, isHere } from '../../shared/registry/access.ts';
import { registryClient } from '../../shared/registry/client.ts';
import { formatReference, type ImageReference } from '../../shared/registry/reference.ts';
import { runBuild } from './command.ts';
import type { BundleCall } from './flags.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Why nothing can be pushed; undefined: skopeo is here. */
export const skopeoProblem = (env: Env): string | undefined =>
  Bun.which('skopeo', { PATH: env['PATH'] ?? '' })
    ? undefined
    : "'--push' needs skopeo, which is not on the PATH; install it, or push the archive with another program";

/** Pushes an archive under a name; an error when the registry has another digest afterwards. */
export const pushArchive = async (
  archive: string,
  reference: ImageReference,
  digest: string,
  { world, talk }: BundleCall,
): Promise<void> => {
  const { digest: _, ...tagged } = reference;
  const to = formatReference(tagged);
  talk.info(`pushing to ${to}`);
  await runBuild(
    [
      'skopeo',
      'copy',
      '--preserve-digests',
      ...(isHere(reference.registry) ? ['--dest-tls-verify=false'] : []),
      `oci-archive:${archive}`,
      `docker://${to}`,
    ],
    { cwd: world.cwd, env: { ...world.env }, interrupted: world.interrupted },
  );
  const registry = registryClient({ interrupted: world.interrupted, credentials: credentialsOf(world.env) });
  const arrived = await registry.manifest(tagged);
  if (arrived.digest !== digest)
    throw failed(`'${to}' has the digest ${arrived.digest} in the registry, and ${digest} here`);
};
