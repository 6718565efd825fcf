import { describe, expect, test } from 'bun:test';
import { namedIn, proxyOf } from './proxy.ts';

describe('NO_PROXY', () => {
  test.each<[string, string, string, boolean]>([
    ['*', 'example.com', '443', true],
    ['', 'example.com', '443', false],
    ['example.com', 'example.com', '443', true],
    ['example.com', 'a.example.com', '443', true],
    ['example.com', 'badexample.com', '443', false],
    ['.example.com', 'a.example.com', '443', true],
    ['.example.com', 'example.com', '443', false],
    ['*.example.com', 'a.example.com', '443', true],
    ['a.com, EXAMPLE.com', 'example.COM', '443', true],
    ['example.com:6443', 'example.com', '6443', true],
    ['example.com:6443', 'example.com', '443', false],
    ['10.1.2.3', '10.1.2.3', '443', true],
    ['10.1.2.3', '10.1.2.30', '443', false],
    ['10.0.0.0/8', '10.1.2.3', '443', true],
    ['10.0.0.0/8', '11.1.2.3', '443', false],
    ['10.0.0.0/8', 'ten.example.com', '443', false],
    ['0.0.0.0/0', '1.2.3.4', '443', true],
    ['fd00::/8', '[fd12::1]', '443', true],
    ['fd00::/8', '10.1.2.3', '443', false],
    ['::1', '[::1]', '443', true],
    ['2001:db8::1', '[2001:db8::1]', '443', true],
  ])('%p and %s:%s', (rules, host, port, named) => expect(namedIn(rules, host, port)).toBe(named));
});

describe('the proxy for a server', () => {
  const far = new URL('https://api.example.com:6443');
  test.each<[string, URL, string | undefined, Record<string, string>, string | false]>([
    ['none', far, undefined, {}, false],
    ['HTTPS_PROXY', far, undefined, { HTTPS_PROXY: 'http://p:3128' }, 'http://p:3128/'],
    ['lower case, without a scheme', far, undefined, { https_proxy: 'p:3128' }, 'http://p:3128/'],
    ['not the one for http', far, undefined, { HTTP_PROXY: 'http://p:3128' }, false],
    [
      'the one for http',
      new URL('http://api.example.com'),
      undefined,
      { HTTP_PROXY: 'http://p:3128' },
      'http://p:3128/',
    ],
    ['NO_PROXY', far, undefined, { HTTPS_PROXY: 'http://p:3128', NO_PROXY: 'example.com' }, false],
    ['this machine', new URL('https://localhost:6443'), undefined, { HTTPS_PROXY: 'http://p:3128' }, false],
    [
      'this machine by address',
      new URL('https://127.3.4.5'),
      undefined,
      { HTTPS_PROXY: 'http://p:3128' },
      false,
    ],
    ['proxy-url before the environment', far, 'http://q:1', { HTTPS_PROXY: 'http://p:3128' }, 'http://q:1/'],
    ['proxy-url for this machine', new URL('https://127.0.0.1:6443'), 'http://q:1', {}, 'http://q:1/'],
  ])('%s', (_, server, proxyUrl, env, proxy) => expect(proxyOf(server, proxyUrl, env)).toBe(proxy));

  test.each<[string, string | undefined, Record<string, string>, string]>([
    [
      'socks',
      undefined,
      { HTTPS_PROXY: 'socks5://user:secret@p:1' },
      "HTTPS_PROXY 'socks5://p:1' is not supported",
    ],
    ['nonsense', 'http://user:secret@:x', {}, "the kubeconfig's proxy-url holds no address of a proxy"],
    ['two that disagree', 'http://q:1', { NO_PROXY: 'api.example.com' }, 'unset NO_PROXY'],
  ])('%s is refused', (_, proxyUrl, env, says) => expect(() => proxyOf(far, proxyUrl, env)).toThrow(says));
});
