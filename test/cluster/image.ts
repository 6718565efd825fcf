/** Container images without a builder: a directory as the only layer of an OCI archive. */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './kube-binary.ts';

export interface ImageConfig {
  entrypoint?: string[];
  user?: string;
  env?: string[];
  workdir?: string;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * An OCI archive from a directory; gives its reference by digest, `localhost/NAME@sha256:…`, under which containerd knows
 * it after an import with {@link importImage}.
 */
export const makeImage = (
  archive: string,
  name: string,
  rootfs: string,
  config: ImageConfig = {},
): string => {
  const work = `${archive}.work`;
  const blobs = join(work, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const blob = (content: string | Uint8Array): { digest: string; size: number } => {
    const digest = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(blobs, digest), content);
    return { digest: `sha256:${digest}`, size: Buffer.byteLength(content) };
  };
  const layer = join(work, 'layer.tar');
  run([
    'tar',
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=pax',
    '--pax-option=delete=atime,delete=ctime',
    '-cf',
    layer,
    '-C',
    rootfs,
    '.',
  ]);
  const layerBlob = blob(readFileSync(layer));
  rmSync(layer);
  const configBlob = blob(
    JSON.stringify({
      architecture: ARCHITECTURES[process.arch],
      os: 'linux',
      config: {
        Env: ['PATH=/usr/local/bin:/usr/bin:/bin', ...(config.env ?? [])],
        Entrypoint: config.entrypoint ?? ['/bin/sleep', '2147483647'],
        ...(config.user ? { User: config.user } : {}),
        ...(config.workdir ? { WorkingDir: config.workdir } : {}),
      },
      rootfs: { type: 'layers', diff_ids: [layerBlob.digest] },
    }),
  );
  const type = 'application/vnd.oci.image';
  const manifest = blob(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: `${type}.manifest.v1+json`,
      config: { mediaType: `${type}.config.v1+json`, ...configBlob },
      layers: [{ mediaType: `${type}.layer.v1.tar`, ...layerBlob }],
    }),
  );
  const reference = `localhost/${name}:1`;
  const annotations = {
    'io.containerd.image.name': reference,
    'org.opencontainers.image.ref.name': reference,
  };
  writeFileSync(join(work, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(
    join(work, 'index.json'),
    JSON.stringify({
      schemaVersion: 2,
      manifests: [{ mediaType: `${type}.manifest.v1+json`, ...manifest, annotations }],
    }),
  );
  run(['tar', '-cf', archive, '-C', work, 'oci-layout', 'index.json', 'blobs']);
  rmSync(work, { recursive: true });
  return `localhost/${name}@${manifest.digest}`;
};

/** Puts an image archive on every node of a cluster that was started here, under its tag and its digest. */
export const importImage = (directory: string, nodes: number, archive: string, reference: string): void => {
  for (let node = 1; node <= nodes; node++) {
    const ctr = ['ctr', '-a', join(directory, `node-${node}`, 'containerd.sock'), '-n', 'k8s.io', 'images'];
    run([...ctr, 'import', archive]);
    run([...ctr, 'tag', '--force', reference.replace(/@.*/, ':1'), reference]);
  }
};

/** Applets that tests and start-up scripts use. */
const APPLETS =
  'sh cat ls mkdir rm sleep tar gzip sha256sum uname env printenv head tail wc yes seq dd true false kill ps id echo touch mv nc';

/** A root directory with a static busybox: shell, tar, gzip, sha256sum and the like. */
export const busyboxRoot = (directory: string): string => {
  const root = join(directory, 'busybox-root');
  if (existsSync(root)) return root;
  const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((path) => existsSync(path));
  if (!busybox) throw new Error('no static busybox; install busybox-static');
  mkdirSync(join(root, 'bin'), { recursive: true });
  mkdirSync(join(root, 'tmp'), { mode: 0o777 });
  cpSync(busybox, join(root, 'bin', 'busybox'));
  for (const applet of APPLETS.split(' ')) symlinkSync('busybox', join(root, 'bin', applet));
  return root;
};
