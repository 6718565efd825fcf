/** Ports for servers of a test cluster: below those that the kernel gives to clients, one of which could take a stopped server's port from it. */
import { createServer } from 'node:net';

const [LOWEST, PORTS] = [20_000, 10_000];

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** A port that is free now. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
};
