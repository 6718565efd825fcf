import { describe, expect, test } from 'bun:test';
import { writesOutside } from '../lib/agent/outside-writes.ts';
import {
  addressOf,
  type Connection,
  connectionsIn,
  networksOf,
  strangers,
  TreeSockets,
} from '../lib/agent/sockets.ts';
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
          '   6: 0100007F:A000 0101A8C0:0035 01 00000000:00000000 00:00000000 00000000     0        0 14 2 0 0\n' +
          '   7: 0100007F:A001 0101A8C0:0000 01 00000000:00000000 00:00000000 00000000     0        0 15 2 0 0\n',
        '/proc/7/net/icmp6':
          '  sl  local_address remote_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode ref pointer drops\n' +
          '   8: 00000000000000000000000000000000:0001 B80D01200000000067452301EFCDAB89:0000 01 0:0 00:0 0 0 0 16 2 0 0\n',
      }),
      7,
    ),
  ).toEqual([
    { protocol: 'tcp', local: '127.0.0.1:8080', remote: '', inode: '11' },
    { protocol: 'tcp', local: '127.0.0.1:40000', remote: '127.0.0.1:8080', inode: '12' },
    { protocol: 'udp', local: '0.0.0.0:68', remote: '', inode: '13' },
    { protocol: 'udp', local: '127.0.0.1:40960', remote: '192.168.1.1:53', inode: '14' },
    {
      protocol: 'icmp6',
      local: '[0:0:0:0:0:0:0:0]:1',
      remote: '[2001:db8:0:0:123:4567:89ab:cdef]:0',
      inode: '16',
    },
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
      'a datagram’s socket that may send to anyone',
      [{ ...at('0.0.0.0:4000', '', '1'), protocol: 'udp' }],
      [''],
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

test('one process of each network is asked, and those that tell nothing of theirs', () => {
  const link = (path: string) => {
    if (path.includes('/9/')) throw new Error('no such process');
    return path.includes('/8/') ? 'net:[2]' : 'net:[1]';
  };
  expect(networksOf([5, 6, 8, 9], link).toSorted()).toEqual([6, 8, 9]);
});

describe('look after look', () => {
  const HEAD = 'head\n';
  const line = (local: string, remote: string, state: string, inode: number) =>
    `   0: ${local} ${remote} ${state} 0:0 00:0 0 0 0 ${inode} 1 0\n`;
  const MODEL = line('0100007F:9C40', '0100007F:0063', '01', 1);
  /** A machine whose tables a test may change, and how often that of TCP was read. */
  const machine = (tcp: string) => {
    const files: Record<string, string> = {
      '/proc/7/net/tcp': HEAD + tcp,
      '/proc/7/net/unix': `${HEAD}00000000c6246043: 00000003 00000000 00000000 0001 03 21 /run/x.sock\n`,
      '/proc/7/net/netlink': `${HEAD}000000001860a636 0   0          00000000 0        0        0     2        0        22     \n`,
    };
    const count = { tcp: 0 };
    const read = (path: string) => {
      if (path.endsWith('/tcp')) count.tcp++;
      return files[path];
    };
    const sockets = new TreeSockets(99, { read, list: () => [] }, () => 'net:[1]');
    const look = (...inodes: number[]) =>
      sockets.strangers([7], new Set(inodes.map(String))).map((one) => one.remote);
    return { files, count, look };
  };

  test('tables of TCP are read while a socket is new, and then no more', () => {
    const { count, look } = machine(MODEL);
    for (const wanted of [1, 1, 1]) expect([look(1, 21, 22), count.tcp]).toEqual([[], wanted]);
  });

  test('sockets that stay on this machine need no such table', () => {
    const { count, look } = machine(MODEL);
    expect([look(21, 22), look(), count.tcp]).toEqual([[], [], 0]);
  });

  test('one that is no connection yet is looked for again', () => {
    const { files, look } = machine(MODEL);
    expect(look(1, 2)).toEqual([]);
    files['/proc/7/net/tcp'] += line('0200000A:9C41', '0300000A:01BB', '02', 2);
    expect(look(1, 2)).toEqual(['10.0.0.3:443']);
  });

  test('a stranger stays one, and a number that another has is judged anew', () => {
    const { files, look } = machine(MODEL + line('0200000A:9C41', '0300000A:01BB', '01', 2));
    expect([look(1, 2), look(1, 2)]).toEqual([['10.0.0.3:443'], ['10.0.0.3:443']]);
    files['/proc/7/net/tcp'] = HEAD;
    expect(look()).toEqual([]);
    files['/proc/7/net/tcp'] = HEAD + line('0200000A:9C41', '0300000A:01BB', '01', 1);
    expect(look(1)).toEqual(['10.0.0.3:443']);
  });

  test('a datagram’s socket is judged at each look: its other end may change', () => {
    const { files, look } = machine('');
    files['/proc/7/net/udp'] = HEAD + line('0100007F:A000', '0100007F:0063', '01', 3);
    expect(look(3)).toEqual([]);
    files['/proc/7/net/udp'] = HEAD + line('0100007F:A000', '0101A8C0:0035', '01', 3);
    expect(look(3)).toEqual(['192.168.1.1:53']);
  });
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
      writesOutside(
        proc({ '/proc/7/fdinfo/3': flags(octal) }),
        7,
        new Map([['3', link]]),
        ['/h'],
        () => link,
      ),
    ).toEqual(wanted),
  );

  test('flags of the file that has the number now are not those of the one before', () =>
    expect(
      writesOutside(
        proc({ '/proc/7/fdinfo/3': flags('0100001') }),
        7,
        new Map([['3', '/etc/x']]),
        ['/h'],
        () => '/h/y',
      ),
    ).toEqual([]));
});
