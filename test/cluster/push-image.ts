/** Puts images into a registry over plain HTTP, as test registries speak it. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeImage } from './image.ts';
import { run } from './kube-binary.ts';

export const OCI = 'application/vnd.oci.image';
type Content = Buffer<ArrayBuffer> | string;

const send = async (url: string, method: string, body: Content, type: string): Promise<Response> => {
  const answer = await fetch(url, { method, body, headers: { 'content-type': type } }).catch(
    (error: Error) => {
      throw new Error(`${method} ${url}: ${error.message}; is a registry there that speaks plain HTTP?`);
    },
  );
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return answer;
};

/** Pushes a manifest or an index; gives its reference by digest. */
export const pushManifest = async (
  registry: string,
  name: string,
  manifest: string,
  type: string,
): Promise<string> => {
  const digest = `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
  await send(`http://${registry}/v2/${name}/manifests/${digest}`, 'PUT', manifest, type);
  return `${registry}/${name}@${digest}`;
};

/** Pushes an image made of a directory; gives its reference by digest, and its manifest's size. */
export const pushImage = async (
  registry: string,
  name: string,
  root: string,
): Promise<{ reference: string; size: number }> => {
  const work = mkdtempSync(join(tmpdir(), 'k8sbench-push-'));
  try {
    const archive = join(work, 'image.tar');
    const digest = makeImage(archive, name, root).split('@sha256:')[1]!;
    run(['tar', '-xf', archive, '-C', work]);
    const blob = (of: string): Buffer<ArrayBuffer> => readFileSync(join(work, 'blobs/sha256', of));
    const manifest = blob(digest).toString();
    const { config, layers } = JSON.parse(manifest) as {
      config: { digest: string };
      layers: { digest: string }[];
    };
    for (const one of [config, ...layers]) {
      const url = `http://${registry}/v2/${name}/blobs/uploads/`;
      const at = new URL((await send(url, 'POST', '', 'text/plain')).headers.get('location')!, url);
      at.searchParams.set('digest', one.digest);
      await send(at.href, 'PUT', blob(one.digest.slice('sha256:'.length)), 'application/octet-stream');
    }
    const reference = await pushManifest(registry, name, manifest, `${OCI}.manifest.v1+json`);
    return { reference, size: Buffer.byteLength(manifest) };
  } finally {
    rmSync(work, { recursive: true });
  }
};
