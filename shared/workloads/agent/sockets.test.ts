import { describe, expect, test } from 'bun:test';
import { writesOutside } from '../lib/agent/outside-writes.ts';
import { addressOf, type Connection, connectionsIn, strangers } from '../lib/agent/sockets.ts';
import type { Proc } from '../lib/agent/tree.ts';

test.each([
  ['0100007F:1F90', '127.0.0.1:8080'],
  ['00000000:0000', '0.0.0.0:0'],
  ['00000000000000000000000001000000:0050', '[0:0:0:0:0:0:0:1]:80'],
  ['0000000000000000FFFF00000100007F:0050', '127.0.0.1:80'],
  ['B80D01200000000067452301EFCDAB89:01BB', '[2001:db8:0:0:123:4567:89ab:cdef]:443'],
])('%s is %s', (hex, address) => expect(addressOf(hex)).toBe(address));

const proc = (files: Record<string, string>): Proc => ({ read: (path) => files[path], list: () => [] });

test('what a table of the kernel says', () =>
  expect(
    connectionsIn(
      proc({
        '/proc/7/net/tcp':
          '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n' +
          '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0\n' +
          '   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0\n',
        '/proc/7/net/udp':
          '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n' +
          '   5: 00000000:0044 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 13 2 0 0\n' +
          '   6: 0100007F:A000 0101A8C0:0035 01 00000000:00000000 00:00000000 00000000     0        0 14 2 0 0\n',
      }),
      7,
    ),
  ).toEqual([
    { protocol: 'tcp', local: '127.0.0.1:8080', remote: '', inode: '11' },
    { protocol: 'tcp', local: '127.0.0.1:40000', remote: '127.0.0.1:8080', inode: '12' },
    { protocol: 'udp', local: '127.0.0.1:40960', remote: '192.168.1.1:53', inode: '14' },
  ]));

describe('strangers', () => {
  const at = (local: string, remote: string, inode: string): Connection => ({
    protocol: 'tcp',
    local,
    remote,
    inode,
  });
  test.each<[string, Connection[], string[]]>([
    ['the model is none', [at('127.0.0.1:40000', '127.0.0.1:99', '1')], []],
    ['another port here is one', [at('127.0.0.1:40000', '127.0.0.1:98', '1')], ['127.0.0.1:98']],
    ['the same port elsewhere is one', [at('10.0.0.1:40000', '10.0.0.2:99', '1')], ['10.0.0.2:99']],
    ['somebody else’s connection is not looked at', [at('10.0.0.1:40000', '10.0.0.2:99', '7')], []],
    [
      'both ends of the tree',
      [at('127.0.0.1:40000', '127.0.0.1:50', '1'), at('127.0.0.1:50', '127.0.0.1:40000', '2')],
      [],
    ],
    [
      'not taken yet by whoever waits for it',
      [
        at('0.0.0.0:50', '', '2'),
        at('127.0.0.1:40000', '127.0.0.1:50', '1'),
        at('127.0.0.1:50', '127.0.0.1:40000', '0'),
      ],
      [],
    ],
    [
      'somebody else waits there',
      [at('0.0.0.0:50', '', '7'), at('127.0.0.1:40000', '127.0.0.1:50', '1')],
      ['127.0.0.1:50'],
    ],
  ])('%s', (_, connections, wanted) =>
    expect(strangers(connections, new Set(['1', '2']), 99).map((one) => one.remote)).toEqual(wanted),
  );
});

describe('files that are written outside', () => {
  const flags = (octal: string) => `pos:\t0\nflags:\t${octal}\nmnt_id:\t20\n`;
  test.each<[string, string, string, string[]]>([
    ['opened for writing', '/etc/x', '0100001', ['/etc/x']],
    ['for both', '/etc/x', '0100002', ['/etc/x']],
    ['for reading', '/etc/x', '0100000', []],
    ['at home', '/h/x', '0100001', []],
    ['beside home, with its name in front', '/home/x', '0100001', ['/home/x']],
    ['a device', '/dev/null', '0100002', []],
    ['a pipe', 'pipe:[5]', '01', []],
    ['memory', '/memfd:x (deleted)', '0100002', []],
    ['a file that is gone', '/tmp/x (deleted)', '0100002', []],
  ])('%s', (_, link, octal, wanted) =>
    expect(
      writesOutside(proc({ '/proc/7/fdinfo/3': flags(octal) }), 7, new Map([['3', link]]), ['/h']),
    ).toEqual(wanted),
  );
});
