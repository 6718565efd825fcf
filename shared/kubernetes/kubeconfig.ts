/** Kubeconfigs as kubectl reads them: which files, how several merge, what a context resolves to. Pure but for reading files. */
import { existsSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { Failure, failed, usage } from '../failure.ts';
import { readText } from '../read.ts';
import { parseForeignYaml } from '../yaml.ts';

/** A program that prints credentials (client-go credential plugins). */
export interface ExecPlugin {
  command: string;
  args: string[];
  env: { name: string; value: string }[];
  apiVersion: string;
  interactiveMode: string;
  provideClusterInfo: boolean;
  installHint: string;
}

/** Who asks. The first way that is there counts, in this order. */
export interface User {
  name: string;
  tokenFile?: string;
  token?: string;
  basic?: { username: string; password: string };
  exec?: ExecPlugin;
  /** Providers built into old kubectls (oidc, gcp, azure), as written. */
  authProvider?: Record<string, unknown>;
  /** Beside any of these. */
  certificate?: { cert: string; key: string };
  impersonate?: Record<string, string>;
}

/** A context resolved: everything that reaching one API server takes. */
export interface Access {
  /** For messages: the context's name, or how the server was found without one. */
  context: string;
  server: string;
  ca?: string;
  /** The kubeconfig says to skip verification. */
  insecure: boolean;
  serverName?: string;
  proxyUrl?: string;
  namespace?: string;
  user: User;
  /** `config` of the cluster's extension for exec plugins. */
  pluginConfig?: unknown;
}

interface Entry {
  value: Record<string, unknown>;
  /** Directory that its relative paths start from. */
  directory: string;
  file: string;
}
interface Merged {
  clusters: Map<string, Entry>;
  users: Map<string, Entry>;
  contexts: Map<string, Entry>;
  current: string;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A field that must be a text when it is there; a number that was meant as one is refused, as kubectl refuses it. */
const textOf = ({ value, file }: Entry, key: string): string | undefined => {
  const found = value[key];
  if (found === undefined || found === null || found === '') return undefined;
  if (typeof found !== 'string') throw failed(`${file}: '${key}' is no text; quote it`);
  return found;
};

/** Adds a file's entries; what an earlier file named stays as it is. */
const mergeFile = (merged: Merged, file: string): void => {
  const read = parseForeignYaml(readText(file, file), file);
  if (read === undefined || read === null) return;
  if (!isRecord(read)) throw failed(`'${file}' is no kubeconfig: expected clusters, users and contexts`);
  const directory = dirname(resolve(file));
  for (const [list, inner] of [
    ['clusters', 'cluster'],
    ['users', 'user'],
    ['contexts', 'context'],
  ] as const) {
    const entries = read[list] ?? [];
    if (!Array.isArray(entries)) throw failed(`${file}: '${list}' is no list`);
    for (const entry of entries as unknown[]) {
      if (!isRecord(entry) || typeof entry['name'] !== 'string')
        throw failed(`${file}: an entry of '${list}' has no name`);
      const value = entry[inner] ?? {};
      if (!isRecord(value)) throw failed(`${file}: '${list}' has no '${inner}' for '${entry['name']}'`);
      if (!merged[list].has(entry['name'])) merged[list].set(entry['name'], { value, directory, file });
    }
  }
  if (merged.current === '' && typeof read['current-context'] === 'string')
    merged.current = read['current-context'];
};

/** What is asked for, and where from: flags and files first, then the environment, then the user's own file. */
export interface Wanted {
  /** One file, or several as KUBECONFIG holds them. */
  kubeconfig?: string;
  context?: string;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** The kubeconfig files to read, in order; empty when there is none. */
const filesOf = ({ kubeconfig, cwd, env }: Wanted): string[] => {
  const home = env['HOME'] ?? '';
  const at = (path: string): string =>
    resolve(cwd, path.startsWith('~/') && home !== '' ? join(home, path.slice(2)) : path);
  const given = kubeconfig ?? env['KUBECONFIG'] ?? '';
  if (given !== '' && existsSync(at(given))) return [at(given)];
  const listed = given.split(delimiter).filter((path) => path !== '');
  const found = listed.map(at).filter((path) => existsSync(path));
  if (listed.length > 0 && found.length === 0)
    throw usage(`the kubeconfig '${given}' does not exist; correct '--kubeconfig' or KUBECONFIG`);
  if (listed.length > 0) return found;
  const own = home === '' ? '' : join(home, '.kube', 'config');
  return own !== '' && existsSync(own) ? [own] : [];
};

/** A file's content, or the decoded data beside it, which counts more. */
const material = (entry: Entry, key: string): string | undefined => {
  const data = textOf(entry, `${key}-data`);
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  const path = textOf(entry, key);
  if (path === undefined) return undefined;
  try {
    return readText(resolve(entry.directory, path), path);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw failed(error.problems.map((one) => `${entry.file}: '${key}': ${one}`));
  }
};

const execOf = (entry: Entry): ExecPlugin | undefined => {
  const raw = entry.value['exec'];
  if (!isRecord(raw)) return undefined;
  const inner: Entry = { ...entry, value: raw };
  const command = textOf(inner, 'command');
  if (command === undefined) throw failed(`${entry.file}: an exec plugin has no command`);
  const list = (key: string): unknown[] => (Array.isArray(raw[key]) ? (raw[key] as unknown[]) : []);
  return {
    // As in a shell: a bare name is looked up, a path with a slash starts beside the kubeconfig.
    command: command.includes('/') ? resolve(entry.directory, command) : command,
    args: list('args').map(String),
    env: list('env')
      .filter(isRecord)
      .map((one) => ({ name: String(one['name']), value: String(one['value'] ?? '') })),
    apiVersion: textOf(inner, 'apiVersion') ?? 'client.authentication.k8s.io/v1',
    interactiveMode: textOf(inner, 'interactiveMode') ?? 'IfAvailable',
    provideClusterInfo: raw['provideClusterInfo'] === true,
    installHint: textOf(inner, 'installHint') ?? '',
  };
};

/** Headers of `as`, `as-uid`, `as-groups`, `as-user-extra`; a repeated header can't be sent from here, so it is refused. */
const impersonationOf = (entry: Entry): Record<string, string> | undefined => {
  const as = textOf(entry, 'as');
  const headers: Record<string, string> = {};
  if (as !== undefined) headers['Impersonate-User'] = as;
  const uid = textOf(entry, 'as-uid');
  if (uid !== undefined) headers['Impersonate-Uid'] = uid;
  const many: [string, unknown][] = [['Impersonate-Group', entry.value['as-groups']]];
  const extra = entry.value['as-user-extra'];
  if (isRecord(extra))
    for (const [key, values] of Object.entries(extra))
      many.push([`Impersonate-Extra-${encodeURIComponent(key)}`, values]);
  for (const [header, values] of many) {
    if (!Array.isArray(values) || values.length === 0) continue;
    if (values.length > 1)
      throw failed(
        `${entry.file}: impersonation with ${values.length} values of '${header}' is not supported; name one`,
      );
    headers[header] = String(values[0]);
  }
  return Object.keys(headers).length > 0 ? headers : undefined;
};

const userOf = (name: string, entry: Entry): User => {
  const cert = material(entry, 'client-certificate');
  const key = material(entry, 'client-key');
  if ((cert === undefined) !== (key === undefined))
    throw failed(`${entry.file}: user '${name}' has a client certificate or its key, but not both`);
  const tokenFile = textOf(entry, 'tokenFile');
  const token = textOf(entry, 'token');
  const username = textOf(entry, 'username');
  const exec = execOf(entry);
  const authProvider = entry.value['auth-provider'];
  const impersonate = impersonationOf(entry);
  return {
    name,
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(entry.directory, tokenFile) }),
    ...(token === undefined ? {} : { token }),
    ...(username === undefined ? {} : { basic: { username, password: textOf(entry, 'password') ?? '' } }),
    ...(exec === undefined ? {} : { exec }),
    ...(isRecord(authProvider) ? { authProvider } : {}),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(impersonate === undefined ? {} : { impersonate }),
  };
};

const names = (all: Iterable<string>): string => [...all].map((one) => `'${one}'`).join(', ') || 'none';

/** What a context of the kubeconfigs resolves to; `undefined` when there is no kubeconfig at all. */
export const readKubeconfig = (wanted: Wanted): Access | undefined => {
  const files = filesOf(wanted);
  if (files.length === 0) return undefined;
  const merged: Merged = { clusters: new Map(), users: new Map(), contexts: new Map(), current: '' };
  for (const file of files) mergeFile(merged, file);
  const where = files.join(delimiter);
  const context = wanted.context ?? merged.current;
  if (context === '')
    throw usage(
      `'${where}' names no current context; choose one with '--context': ${names(merged.contexts.keys())}`,
    );
  const chosen = merged.contexts.get(context);
  if (!chosen) throw usage(`'${where}' has no context '${context}'; it has ${names(merged.contexts.keys())}`);
  const clusterName = textOf(chosen, 'cluster') ?? '';
  const cluster = merged.clusters.get(clusterName);
  const server = cluster && textOf(cluster, 'server');
  if (!cluster || server === undefined)
    throw failed(`${chosen.file}: context '${context}' needs a cluster '${clusterName}' with a server`);
  const userName = textOf(chosen, 'user') ?? '';
  const user = merged.users.get(userName);
  if (!user && userName !== '')
    throw failed(`${chosen.file}: context '${context}' needs the user '${userName}', which is not there`);
  const insecure = cluster.value['insecure-skip-tls-verify'] === true;
  const ca = material(cluster, 'certificate-authority');
  if (insecure && ca !== undefined)
    throw failed(
      `${cluster.file}: cluster '${clusterName}' has a certificate authority and insecure-skip-tls-verify; remove one`,
    );
  const serverName = textOf(cluster, 'tls-server-name');
  const proxyUrl = textOf(cluster, 'proxy-url');
  const namespace = textOf(chosen, 'namespace');
  const extensions = cluster.value['extensions'];
  const extension = (Array.isArray(extensions) ? (extensions as unknown[]) : [])
    .filter(isRecord)
    .find((one) => one['name'] === 'client.authentication.k8s.io/exec');
  return {
    context,
    server: /^https?:\/\//.test(server) ? server : `https://${server}`,
    insecure,
    ...(ca === undefined ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(namespace === undefined ? {} : { namespace }),
    user: user ? userOf(userName, user) : { name: '' },
    ...(extension ? { pluginConfig: extension['extension'] } : {}),
  };
};
