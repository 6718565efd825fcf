/**
 * A server of archives over https on this machine, as a process: `archive-server.ts DIR`. Prints its port. DIR holds tls.crt and
 * tls.key; /files/NAME is a file of it, other paths are what servers do wrong. Each request is a line of DIR/requests.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

const directory = process.argv[2]!;
const fileOf = (name: string) => Bun.file(join(directory, name));

/** A body that ends before it should. */
const cut = async (name: string): Promise<Response> => {
  const bytes = new Uint8Array(await fileOf(name).arrayBuffer());
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, bytes.length >> 1));
      await Bun.sleep(20);
      controller.error(new Error('gone'));
    },
  });
  return new Response(body, { headers: { 'content-length': String(bytes.length) } });
};

const plain = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('not over TLS') });

const WRONG: Readonly<Record<string, (name: string) => Response | Promise<Response>>> = {
  cut,
  longer: async (name) =>
    new Response(Buffer.concat([new Uint8Array(await fileOf(name).arrayBuffer()), Buffer.alloc(100_000)])),
  other: async (name) => new Response(new Uint8Array(await fileOf(name).arrayBuffer()).toReversed()),
  broken: () => new Response('try later', { status: 503 }),
  away: (name) => Response.redirect(`/files/${name}`, 302),
  plain: (name) => Response.redirect(`http://127.0.0.1:${plain.port}/${name}`, 302),
  ever: (name) => Response.redirect(`/ever/${name}`, 302),
  squeezed: async (name) =>
    new Response(Bun.gzipSync(new Uint8Array(await fileOf(name).arrayBuffer())), {
      headers: { 'content-encoding': 'gzip' },
    }),
};

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: { cert: fileOf('tls.crt'), key: fileOf('tls.key') },
  fetch(request) {
    const { pathname } = new URL(request.url);
    appendFileSync(join(directory, 'requests'), `${request.method} ${pathname}\n`);
    const [, how = '', name = ''] = pathname.split('/');
    if (WRONG[how]) return WRONG[how](name);
    return how === 'files' && existsSync(join(directory, name))
      ? new Response(fileOf(name))
      : new Response('nothing here', { status: 404 });
  },
});
console.log(server.port);
