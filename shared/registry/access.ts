/** How a registry lets somebody in: its challenge, the token that answers it (distribution specification, "Token Authentication"), kept credentials. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from '../exit.ts';
import { cause, failed, Failure } from '../failure.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** `Basic` credentials of a registry, as its configuration keeps them: base64 of `user:password`. */
export type Credentials = (registry: string) => string | undefined;

/** An image that a registry does not give: its own last word, an HTTP status, is undefined when it did not answer. */
export class NotGiven extends Failure {
  readonly status: number | undefined;
  /** What each address said. */
  readonly said: string;

  constructor(what: string, said: readonly string[], status: number | undefined) {
    super(EXIT.failed, `${what}: ${said.join('; ')}`);
    this.status = status;
    this.said = said.join('; ');
  }
}

/** Keys under which Docker's own hub is kept. */
const HUB = ['https://index.docker.io/v1/', 'index.docker.io', 'registry-1.docker.io'];

/** What `docker login` or `skopeo login` kept in a file: `$REGISTRY_AUTH_FILE`, else `$DOCKER_CONFIG`, else ~/.docker. */
export const credentialsOf = (env: Env): Credentials => {
  const path =
    env['REGISTRY_AUTH_FILE'] ||
    join(env['DOCKER_CONFIG'] || join(env['HOME'] || homedir(), '.docker'), 'config.json');
  let auths: Record<string, { auth?: unknown }> | undefined;
  return (registry) => {
    auths ??= readAuths(path);
    const keys = [registry, `https://${registry}`, ...(registry === 'docker.io' ? HUB : [])];
    const found = keys.map((key) => auths?.[key]?.auth).find((one) => typeof one === 'string' && one !== '');
    return found as string | undefined;
  };
};

const readAuths = (path: string): Record<string, { auth?: unknown }> => {
  if (!existsSync(path)) return {};
  try {
    const { auths } = JSON.parse(readFileSync(path, 'utf8')) as {
      auths?: Record<string, { auth?: unknown }>;
    };
    return typeof auths === 'object' && auths !== null ? auths : {};
  } catch (error) {
    throw failed(`can't read '${path}': ${cause(error)}`);
  }
};

export interface Challenge {
  scheme: 'basic' | 'bearer';
  parameters: Record<string, string>;
}

/** A `WWW-Authenticate` header (RFC 9110 §11.6.1): the first challenge of a kind that can be answered. */
export const parseChallenge = (header: string): Challenge | undefined => {
  for (const [, scheme, rest] of header.matchAll(
    /(?:^|,\s*)(Basic|Bearer)\s+((?:[a-z_]+\s*=\s*(?:"[^"]*"|[^\s,"]+)\s*,?\s*)*)/gi,
  )) {
    const parameters = Object.fromEntries(
      [...rest!.matchAll(/([a-z_]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))/gi)].map((found) => [
        found[1]!.toLowerCase(),
        found[2] ?? found[3]!,
      ]),
    );
    return { scheme: scheme!.toLowerCase() as Challenge['scheme'], parameters };
  }
  return undefined;
};

/** Machines whose registries are spoken to without TLS, as Docker does: this one. */
export const isHere = (host: string): boolean => /^(localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/.test(host);

/** Where a token is had: an address of TLS, or of this machine; credentials go nowhere else. */
const tokenAddress = ({ parameters }: Challenge, scope: string, shown: string): URL => {
  const realm = parameters['realm'] ?? '';
  const url = URL.canParse(realm) ? new URL(realm) : undefined;
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isHere(url.host))))
    throw failed(`registry '${shown}' sends for a token to '${realm}', which is no https address`);
  if (parameters['service'] !== undefined) url.searchParams.set('service', parameters['service']);
  url.searchParams.set('scope', parameters['scope'] ?? scope);
  return url;
};

/** The `Authorization` that answers a challenge; undefined: there is none to give. */
export const answer = async (
  challenge: Challenge,
  { registry, scope, credentials }: { registry: string; scope: string; credentials: string | undefined },
  get: (url: string, headers: Record<string, string>) => Promise<Response>,
): Promise<string | undefined> => {
  if (challenge.scheme === 'basic') return credentials === undefined ? undefined : `Basic ${credentials}`;
  const url = tokenAddress(challenge, scope, registry);
  const response = await get(
    url.href,
    credentials === undefined ? {} : { authorization: `Basic ${credentials}` },
  );
  if (!response.ok)
    throw new NotGiven(
      `registry '${registry}'`,
      [`'${url.host}' gives no token: it answered ${response.status}`],
      // Whoever gives tokens knows who may have one; what there is, the registry knows.
      [401, 403].includes(response.status) ? response.status : undefined,
    );
  const { token, access_token: access } = (await response.json()) as {
    token?: unknown;
    access_token?: unknown;
  };
  const found = [token, access].find((one) => typeof one === 'string' && one !== '');
  if (found === undefined)
    throw failed(`registry '${registry}': '${url.host}' gave an answer without a token`);
  return `Bearer ${String(found)}`;
};
