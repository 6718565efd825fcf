/** Which proxy leads to an API server, by the rules that kubectl has from Go's `httpproxy`: decided once, for every kind of request. */
import { isIP } from 'node:net';
import { usage } from '../failure.ts';

type Env = Readonly<Record<string, string | undefined>>;

const either = (env: Env, name: string): string => env[name] || env[name.toLowerCase()] || '';

const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));

/** An address as its bits. */
const bitsOf = (ip: string): string | undefined => {
  if (isIP(ip) === 4)
    return ip
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('');
  if (isIP(ip) !== 6) return undefined;
  const [head = '', tail] = ip.split('::');
  const [left, right] = [groups(head), groups(tail ?? '')];
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array.from({ length: missing }, () => '0'), ...right]
    .map((part) => Number.parseInt(part, 16).toString(2).padStart(16, '0'))
    .join('');
};

/** Whether an address lies in a block such as 10.0.0.0/8. */
const inBlock = (ip: string, block: string): boolean => {
  const [base = '', length = ''] = block.split('/');
  const [a, b] = [bitsOf(ip), bitsOf(base)];
  return (
    a !== undefined && b !== undefined && a.length === b.length && a.startsWith(b.slice(0, Number(length)))
  );
};

const plainHost = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase();

/** This machine is never reached through a proxy of the environment. */
const isLoopback = (host: string): boolean => {
  const name = plainHost(host);
  return name === 'localhost' || name === '::1' || inBlock(name, '127.0.0.0/8');
};

/** Whether NO_PROXY names a host: `*`, an address, a block, a domain with its subdomains, `.domain` for them alone, each with or without a port. */
export const namedIn = (noProxy: string, host: string, port: string): boolean => {
  const name = plainHost(host);
  return noProxy
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '')
    .some((one) => {
      if (one === '*') return true;
      if (/^[^/]+\/[0-9]+$/.test(one)) return inBlock(name, one);
      const found = isIP(one) === 6 ? undefined : /^(.*?)(?::([0-9]+))?$/.exec(one);
      if (found?.[2] !== undefined && found[2] !== port) return false;
      const rule = plainHost(found?.[1] ?? one);
      if (isIP(name) !== 0) return rule === name;
      const domain = rule.replace(/^\*\./, '.');
      return domain.startsWith('.') ? name.endsWith(domain) : name === domain || name.endsWith(`.${domain}`);
    });
};

/**
 * The proxy for a server, or false: the kubeconfig's proxy-url, else HTTPS_PROXY (HTTP_PROXY for http) unless NO_PROXY
 * names the server. Only http proxies can carry every kind of request here; others are refused.
 */
export const proxyOf = (server: URL, proxyUrl: string | undefined, env: Env): string | false => {
  const port = server.port || (server.protocol === 'https:' ? '443' : '80');
  const named = namedIn(either(env, 'NO_PROXY'), server.hostname, port);
  const variable = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const source = proxyUrl === undefined ? variable : "the kubeconfig's proxy-url";
  const found = proxyUrl ?? (named || isLoopback(server.hostname) ? '' : either(env, variable));
  if (found === '') return false;
  const text = found.includes('://') ? found : `http://${found}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Shown without what may be a password.
  if (!url) throw usage(`${source} holds no address of a proxy; write http://host:port`);
  if (url.protocol !== 'http:')
    throw usage(`${source} '${url.protocol}//${url.host}' is not supported; use an http:// proxy`);
  // The runtime lets NO_PROXY win over the proxy it is told to use; kubectl doesn't. Where they disagree nothing is right.
  if (named)
    throw usage(
      `NO_PROXY names '${server.hostname}', for which ${source} wants a proxy; unset NO_PROXY for this command`,
    );
  return url.href;
};
