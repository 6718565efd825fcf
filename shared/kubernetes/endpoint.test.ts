/** What is refused before anything is sent; everything that is sent is tested on a real API server (test/cluster/access.test.ts). */
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../kubernetes.ts';
import { realWorld } from '../world.ts';

const scratch = mkdtempSync(join(tmpdir(), 'k8sbench-endpoint-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let made = 0;
const serverOf = (server: string): string => {
  const path = join(scratch, `${++made}`);
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    contexts: [{ name: 'x', context: { cluster: 'c' } }],
    'current-context': 'x',
  };
  writeFileSync(path, JSON.stringify(config));
  return connect({ kubeconfig: path }, { ...realWorld(), env: {} }).server;
};

test.each([
  ['https://example.com:6443', 'https://example.com:6443'],
  ['example.com', 'https://example.com'],
  ['https://example.com/k8s/clusters/c-1/', 'https://example.com/k8s/clusters/c-1'],
  ['http://[::1]:8080', 'http://[::1]:8080'],
])('a server at %s', (server, shown) => expect(serverOf(server)).toBe(shown));

test.each(['https://user:pa55@example.com', 'https://pa55@example.com', 'https://:pa55@example.com'])(
  'an address that holds a secret is refused, and not shown: %s',
  (server) => {
    const told = (): string => {
      try {
        return serverOf(server);
      } catch (error) {
        return String(error);
      }
    };
    expect(told()).toContain("context 'x': the address of the server holds a user's name or password");
    expect(told()).not.toContain('pa55');
  },
);

test('one that is no address', () =>
  expect(() => serverOf('https://')).toThrow("context 'x': 'https://' is no address of a server"));
