/**
 * One file by http or https. By node:http and not by Node's fetch: that ends the process, past every handler, when a server
 * closes its connection while a slow disk holds the body back.
 */
import { get as getPlainly, type IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';

const REDIRECTS = 10;
const MOVED = new Set([301, 302, 303, 307, 308]);
/** A server that says nothing for so long is gone, ms. */
const SILENCE_MS = 120_000;

const ask = (url: URL, headers: Record<string, string>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getSecurely : getPlainly;
    const request = get(url, { headers }, resolve);
    request.setTimeout(SILENCE_MS, () =>
      request.destroy(new Error(`'${url.host}' says nothing for ${SILENCE_MS / 1000} s`)),
    );
    request.on('error', reject);
  });

/** The answer, wherever redirects lead; never from https to anything else. What an address has behind its path may be a key. */
export const download = async (
  address: string,
  headers: Record<string, string>,
): Promise<IncomingMessage> => {
  let url = new URL(address);
  for (let at = 0; at <= REDIRECTS; at++) {
    const answer = await ask(url, headers);
    const { location } = answer.headers;
    if (!MOVED.has(answer.statusCode ?? 0) || location === undefined) return answer;
    answer.resume();
    const next = new URL(location, url);
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new Error(`'${url.origin}' leads to '${next.protocol}//${next.host}', which is not https`);
    url = next;
  }
  throw new Error(`'${address}' leads on and on`);
};
