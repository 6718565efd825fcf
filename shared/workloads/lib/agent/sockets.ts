/** Connections of a process tree, from /proc: whom they reach. */
import { readlinkSync } from 'node:fs';
import type { Proc } from './tree.ts';

export interface Connection {
  protocol: string;
  local: string;
  /** Empty of a socket that waits for others. */
  remote: string;
  inode: string;
}

/** An address of /proc/net: hex, each 32-bit word in the machine's order (little-endian on all that Node runs on). */
export const addressOf = (hex: string): string => {
  const [address = '', port = '0'] = hex.split(':');
  const bytes = (address.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).toReversed().map((byte) => Number.parseInt(byte, 16)),
  );
  const number = Number.parseInt(port, 16);
  const mapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  if (bytes.length === 4 || mapped) return `${bytes.slice(-4).join('.')}:${number}`;
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bytes[at * 2]! << 8) | bytes[at * 2 + 1]!).toString(16),
  );
  return `[${groups.join(':')}]:${number}`;
};

const TABLES = ['tcp', 'tcp6', 'udp', 'udp6', 'raw', 'raw6'];

/** TCP_LISTEN of the kernel's states. */
const LISTENS = '0A';

/** Sockets that have another end, and those that wait for one. */
export const connectionsIn = (proc: Proc, pid: number): Connection[] =>
  TABLES.flatMap((protocol) =>
    (proc.read(`/proc/${pid}/net/${protocol}`) ?? '')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
        if (!local || !remote || inode === undefined) return [];
        if (remote.endsWith(':0000'))
          return state === LISTENS ? [{ protocol, local: addressOf(local), remote: '', inode }] : [];
        return [{ protocol, local: addressOf(local), remote: addressOf(remote), inode }];
      }),
  );

/** Links of a process's open files: number → what it is. */
export const openFiles = (
  proc: Proc,
  pid: number,
  link = readlinkSync as (path: string) => string,
): Map<string, string> => {
  const found = new Map<string, string>();
  for (const fd of proc.list(`/proc/${pid}/fd`))
    try {
      found.set(fd, link(`/proc/${pid}/fd/${fd}`));
    } catch {
      // It was closed in this moment.
    }
  return found;
};

export const isLoopback = (address: string): boolean =>
  address.startsWith('127.') || address.startsWith('[0:0:0:0:0:0:0:1]');

const portOf = (address: string): string => address.slice(address.lastIndexOf(':') + 1);

/**
 * Connections of these sockets to anything but the model at `port`: another host, or somebody on this one who is not of the tree.
 * A connection within the tree is its own affair: its other end is one of these sockets, or will be, because one waits for it.
 */
export const strangers = (
  connections: readonly Connection[],
  inodes: ReadonlySet<string>,
  port: number,
): Connection[] => {
  const own = connections.filter((one) => inodes.has(one.inode));
  const between = new Set(own.map((one) => `${one.local}>${one.remote}`));
  const waiting = new Set(own.filter((one) => one.remote === '').map((one) => portOf(one.local)));
  return own.filter(({ local, remote }) => {
    if (remote === '' || between.has(`${remote}>${local}`)) return false;
    const known =
      portOf(remote) === String(port) || waiting.has(portOf(remote)) || waiting.has(portOf(local));
    return !(isLoopback(remote) && known);
  });
};
