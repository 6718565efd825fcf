/** Connections of a process tree, from /proc: whom they reach. */
import { readlinkSync } from 'node:fs';
import type { Proc } from './tree.ts';

export interface Connection {
  protocol: string;
  local: string;
  /** Empty of a socket without another end: one that waits for others, or that may send to anyone. */
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

const TABLES = ['tcp', 'tcp6', 'udp', 'udp6', 'raw', 'raw6', 'icmp', 'icmp6'];

/** TCP_LISTEN of the kernel's states. */
const LISTENS = '0A';

/** Whether a socket needs no other end to send. */
const sendsFreely = (protocol: string): boolean => !protocol.startsWith('tcp');

/** Sockets that have another end, those that wait for one, and those that need none. */
export const connectionsIn = (proc: Proc, pid: number): Connection[] =>
  TABLES.flatMap((protocol) =>
    (proc.read(`/proc/${pid}/net/${protocol}`) ?? '')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
        if (!local || !remote || inode === undefined) return [];
        const one = { protocol, local: addressOf(local), remote: '', inode };
        if (/^0+:0000$/.test(remote)) return state === LISTENS || sendsFreely(protocol) ? [one] : [];
        // Who resolves a name asks the kernel which way it would take there, at port 0, and sends nothing.
        if (protocol.startsWith('udp') && remote.endsWith(':0000')) return [];
        return [{ ...one, remote: addressOf(remote) }];
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

/** Of these processes one of each network that they live in: a sandbox may have one of its own. */
export const networksOf = (
  pids: readonly number[],
  link = readlinkSync as (path: string) => string,
): number[] => {
  const found = new Map<string, number>();
  for (const pid of pids)
    try {
      found.set(link(`/proc/${pid}/ns/net`), pid);
    } catch {
      // It ended in this moment, or tells nothing of where it lives.
      found.set(String(pid), pid);
    }
  return [...found.values()];
};

const portOf = (address: string): string => address.slice(address.lastIndexOf(':') + 1);

/**
 * Connections of these sockets to anything but the model at `port`: another host, or somebody on this one who is not of the tree.
 * A connection within the tree is its own affair: its other end is one of these sockets, or will be, because one waits for it.
 * A datagram's socket without another end tells nobody whom it reaches: it is one of them.
 */
export const strangers = (
  connections: readonly Connection[],
  inodes: ReadonlySet<string>,
  port: number,
): Connection[] => {
  const own = connections.filter((one) => inodes.has(one.inode));
  const between = new Set(own.map((one) => `${one.local}>${one.remote}`));
  const waiting = new Set(own.filter((one) => one.remote === '').map((one) => portOf(one.local)));
  return own.filter(({ protocol, local, remote }) => {
    if (remote === '') return sendsFreely(protocol);
    if (between.has(`${remote}>${local}`)) return false;
    const known =
      portOf(remote) === String(port) || waiting.has(portOf(remote)) || waiting.has(portOf(local));
    return !(isLoopback(remote) && known);
  });
};

/** Inodes of sockets that stay on this machine whatever they do: whom a Unix socket reaches /proc does not tell. */
const localSockets = (proc: Proc, pid: number): string[] =>
  [
    ...(proc.read(`/proc/${pid}/net/unix`) ?? '').matchAll(/^\S+: (?:\S+ ){4}\S+\s+(\d+)/gm),
    ...(proc.read(`/proc/${pid}/net/netlink`) ?? '').matchAll(/^[0-9a-f].*\s(\d+)\s*$/gm),
  ].map((one) => one[1]!);

/**
 * The sockets of one tree, look after look. The kernel walks all of its buckets for a table of TCP, which takes 5 ms whatever is in
 * it: so tables are read only while there is a socket that was not judged yet. A connection of TCP stays what it is;
 * a datagram's socket is judged at each look.
 */
export class TreeSockets {
  readonly #proc: Proc;
  readonly #port: number;
  readonly #link: ((path: string) => string) | undefined;
  #judged = new Set<string>();

  constructor(port: number, proc: Proc, link?: (path: string) => string) {
    this.#port = port;
    this.#proc = proc;
    this.#link = link;
  }

  /** Strangers that these sockets of these processes reach now. */
  strangers(pids: readonly number[], inodes: ReadonlySet<string>): Connection[] {
    // A number may be another socket's once its own is gone.
    this.#judged = new Set([...this.#judged].filter((one) => inodes.has(one)));
    const isJudged = (): boolean => [...inodes].every((one) => this.#judged.has(one));
    if (isJudged()) return [];
    const networks = networksOf(pids, this.#link);
    for (const pid of networks)
      for (const inode of localSockets(this.#proc, pid)) if (inodes.has(inode)) this.#judged.add(inode);
    if (isJudged()) return [];
    return networks.flatMap((pid) => {
      const connections = connectionsIn(this.#proc, pid).filter((one) => inodes.has(one.inode));
      const found = strangers(connections, inodes, this.#port);
      for (const one of connections)
        if (!sendsFreely(one.protocol) && !found.includes(one)) this.#judged.add(one.inode);
      return found;
    });
  }
}
