/** A CONNECT proxy on loopback: counts what it carries, can be told to cut it, and sends every name to one server. */
import { connect, createServer, type Socket } from 'node:net';

export interface Tunnel {
  url: string;
  /** What was asked for: host, port, and the Proxy-Authorization sent with it. */
  readonly asked: { target: string; authorization: string }[];
  /** Cuts everything that is open now. */
  cut(): void;
  close(): void;
}

/** `at`: the port, to open again one that was closed. */
export const openTunnel = async (server: URL, at = 0): Promise<Tunnel> => {
  const asked: Tunnel['asked'] = [];
  const open = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    socket.on('close', () => open.delete(socket)).on('error', () => socket.destroy());
    return socket;
  };
  const listener = createServer((client) => {
    keep(client).once('data', (head) => {
      const text = head.toString('latin1');
      const target = /^CONNECT (\S+)/.exec(text)?.[1];
      if (target === undefined) return client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      asked.push({ target, authorization: /^proxy-authorization: (.*)$/im.exec(text)?.[1]?.trim() ?? '' });
      const upstream = keep(connect(Number(server.port), server.hostname));
      upstream.on('connect', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      return undefined;
    });
  });
  await new Promise<void>((resolve) => listener.listen(at, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return { url: `http://127.0.0.1:${port}`, asked, cut, close: () => (cut(), listener.close()) };
};
