/** The programs we are held against: found on the PATH, or installed from Debian. */
import { run } from './process-run.ts';

/** Program → its Debian package. */
const PACKAGES = {
  'docker-registry': 'docker-registry',
  faketime: 'faketime',
  hyperfine: 'hyperfine',
  jq: 'jq',
  perf: 'linux-perf',
  pigz: 'pigz',
  skopeo: 'skopeo',
  taskset: 'util-linux',
} as const;

export type Peer = keyof typeof PACKAGES;

let listed = false;

const install = async (name: string): Promise<void> => {
  const how = { env: { DEBIAN_FRONTEND: 'noninteractive' } };
  if (!listed) await run(['apt-get', 'update', '-qq'], how);
  listed = true;
  await run(['apt-get', 'install', '-y', '-qq', '--no-install-recommends', name], how);
};

/** The peer's path, or why there is none. */
export const peer = async (name: Peer): Promise<{ path: string } | { why: string }> => {
  const found = Bun.which(name);
  if (found) return { path: found };
  const wanted = PACKAGES[name];
  if (process.getuid?.() !== 0 || !Bun.which('apt-get'))
    return { why: `no '${name}' here; install it: apt-get install ${wanted}` };
  try {
    await install(wanted);
  } catch (error) {
    return { why: `no '${name}' here: ${error instanceof Error ? error.message.split('\n')[0] : error}` };
  }
  const path = Bun.which(name);
  return path ? { path } : { why: `package '${wanted}' brought no '${name}'` };
};

/** kubectl is nobody's package: $KUBECTL names it, or it is on the PATH. */
export const kubectl = (): { path: string } | { why: string } => {
  const path = process.env['KUBECTL'] || Bun.which('kubectl');
  return path ? { path } : { why: 'no kubectl here; name one with $KUBECTL' };
};
