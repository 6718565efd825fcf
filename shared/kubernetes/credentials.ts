/** A user's credentials, fresh for each request: headers, and the client certificate. */
import { readText } from '../read.ts';
import { type PluginCredentials, runPlugin } from './exec-plugin.ts';
import type { Access } from './kubeconfig.ts';

export interface Credentials {
  headers: Record<string, string>;
  certificate?: { cert: string; key: string };
}

/** Where credentials come from. `refused` says that the server answered 401 to the last ones: the next are made anew. */
export interface CredentialSource {
  current(): Promise<Credentials>;
  /** True when other credentials may come; false: asking again is no use. */
  refused(): boolean;
}

/** Gives an Authorization header for a built-in provider of old kubectls, from the client library. */
export type ProviderHeaders = (access: Access) => Promise<Record<string, string>>;

/** Credentials are renewed this long before they end, ms. */
const EARLY = 60_000;
/** A token file is read again after this time, ms: the kubelet renews service account tokens in place. */
const REREAD = 60_000;

const readToken = (path: string): string => readText(path).trim();

/**
 * The source for a resolved user. `now` is ms since the epoch; `signal` stops a plugin that waits for a login.
 */
export const credentialSource = (
  access: Access,
  env: Readonly<Record<string, string | undefined>>,
  now: () => number,
  signal: AbortSignal,
  provider: ProviderHeaders,
): CredentialSource => {
  const { user } = access;
  const always: Credentials = {
    headers: { ...user.impersonate },
    ...(user.certificate ? { certificate: user.certificate } : {}),
  };
  const bearer = (token: string): Credentials => ({
    ...always,
    headers: { ...always.headers, Authorization: `Bearer ${token}` },
  });
  if (user.tokenFile !== undefined) {
    const path = user.tokenFile;
    let read: { token: string; at: number } | undefined;
    return {
      current: async () => {
        if (!read || now() - read.at > REREAD) read = { token: readToken(path), at: now() };
        return bearer(read.token);
      },
      refused: () => {
        const stale = read !== undefined && readToken(path) !== read.token;
        read = undefined;
        return stale;
      },
    };
  }
  if (user.token !== undefined) {
    const fixed = bearer(user.token);
    return { current: async () => fixed, refused: () => false };
  }
  if (user.basic) {
    const { username, password } = user.basic;
    const word = Buffer.from(`${username}:${password}`).toString('base64');
    const fixed = { ...always, headers: { ...always.headers, Authorization: `Basic ${word}` } };
    return { current: async () => fixed, refused: () => false };
  }
  if (user.exec) {
    const plugin = user.exec;
    let given: PluginCredentials | undefined;
    let running: Promise<PluginCredentials> | undefined;
    const run = (): Promise<PluginCredentials> =>
      (running ??= runPlugin(plugin, access, env, signal)
        .then((made) => (given = made))
        .finally(() => (running = undefined)));
    return {
      current: async () => {
        const usable = given && (given.until === undefined || given.until - EARLY > now());
        const { token, certificate } = usable ? given! : await run();
        return { ...(token === undefined ? always : bearer(token)), ...(certificate ? { certificate } : {}) };
      },
      refused: () => {
        given = undefined;
        return true;
      },
    };
  }
  if (user.authProvider)
    return {
      current: async () => ({ ...always, headers: { ...always.headers, ...(await provider(access)) } }),
      refused: () => false,
    };
  return { current: async () => always, refused: () => false };
};
