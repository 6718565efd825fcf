import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatWire } from './chat.ts';
import { type Answer, choose } from './choose.ts';
import { type Exchange, type Report, reportOf } from './exchanges.ts';
import { type Api, type Question, readQuestion } from './question.ts';
import { responsesWire } from './responses.ts';
import type { Fault, Script } from './script.ts';
import type { Wire } from './wire.ts';

/** Creation time in every answer, s: the same answer is the same bytes. */
const CREATED = 1_767_225_600;

/** Called while an exchange goes on; what they take is the server's own time. */
export interface Watch {
  /** The whole request is there, and nothing of it was read yet. */
  arrived?(exchange: Exchange): void;
  /** It was read and understood. */
  asked?(exchange: Exchange, question: Question): void;
  /** The whole answer was handed over. */
  ended?(exchange: Exchange): void;
  /** Somebody takes this server for a proxy to another host. */
  foreign?(host: string): void;
}

export interface ModelServer {
  port: number;
  /** Base of both APIs: `http://…/v1`. */
  url: string;
  exchanges: readonly Exchange[];
  report(): Report;
  /** Ends all connections. */
  close(): Promise<void>;
}

const ROUTES: Readonly<Record<string, Api>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/chat/completions': 'chat',
  '/responses': 'responses',
};

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

const sendJson = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

const errorBody = (message: string, type = 'invalid_request_error', code: string | null = null) => ({
  error: { message, type, param: null, code },
});

const sendFault = async (response: ServerResponse, fault: Fault, wire: Wire): Promise<void> => {
  const streamed = 'events' in wire;
  const type = { 'content-type': streamed ? 'text/event-stream' : 'application/json' };
  switch (fault.kind) {
    case 'status':
      return sendJson(
        response,
        fault.status,
        errorBody(fault.message ?? `scripted status ${fault.status}`, fault.type ?? 'scripted_error'),
        fault.retry_after_s === undefined ? {} : { 'retry-after': String(fault.retry_after_s) },
      );
    case 'garbage':
      response.writeHead(200, type);
      response.end(streamed ? 'data: {"choices": [}\n\n' : '{"choices": [');
      return undefined;
    case 'cut': {
      const text = streamed
        ? wire.events.slice(0, fault.after ?? 1).join('')
        : JSON.stringify(wire.whole).slice(0, 20);
      response.writeHead(200, type);
      await new Promise<void>((resolve) => response.write(text || '\n', () => resolve()));
      response.destroy();
      return undefined;
    }
    case 'stall':
      await new Promise<void>((resolve) => response.once('close', () => resolve()));
      return undefined;
  }
};

/** Sends an answer at the script's pace; without one, everything at once. Gives the waiting that the script asked for, ms. */
const send = async (response: ServerResponse, wire: Wire, answer: Answer): Promise<number> => {
  const { first_s: first = 0, gap_s: gap = 0 } = answer.reply.latency ?? {};
  const from = performance.now();
  // Each event has its own due time: a late one makes no other later.
  const due = async (ms: number): Promise<number> => {
    const left = from + ms - performance.now();
    if (left > 0) await sleep(left);
    return ms;
  };
  let waited = first > 0 ? await due(first * 1000) : 0;
  if (!('events' in wire)) {
    sendJson(response, 200, wire.whole);
    return waited;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  if (gap === 0) {
    response.end(wire.events.join(''));
    return waited;
  }
  for (const [at, event] of wire.events.entries()) {
    if (at > 0) waited = await due((first + at * gap) * 1000);
    if (response.destroyed) return waited;
    response.write(event);
  }
  response.end();
  return waited;
};

/** Serves a script until {@link ModelServer.close}. Rejects when the address can't be had. */
export const serve = async (
  script: Script,
  where: { host?: string; port?: number } = {},
  watch: Watch = {},
): Promise<ModelServer> => {
  const exchanges: Exchange[] = [];
  const foreign = new Set<string>();
  /** How often a fault was given for a request; the same body is the same request, tried again. */
  const given = new Map<string, number>();

  const proxied = (host: string): void => {
    foreign.add(host);
    watch.foreign?.(host);
  };

  const faultFor = (fault: Fault | undefined, id: string): Fault | undefined => {
    if (!fault) return undefined;
    const before = given.get(id) ?? 0;
    if (fault.times !== undefined && before >= fault.times) return undefined;
    given.set(id, before + 1);
    return fault;
  };

  const answer = async (exchange: Exchange, body: Buffer, response: ServerResponse): Promise<void> => {
    const question = readQuestion(exchange.api, parsed(body));
    if (typeof question !== 'string')
      Object.assign(exchange, { messages: question.messages, tools: question.tools.length });
    const chosen = typeof question === 'string' ? question : choose(script, question);
    if (typeof chosen === 'object') Object.assign(exchange, { scene: chosen.scene, at: chosen.at });
    if (typeof question === 'object') watch.asked?.(exchange, question);
    if (typeof chosen === 'string' || typeof question === 'string') {
      exchange.refused = String(chosen);
      return sendJson(response, 400, errorBody(exchange.refused));
    }
    // The same request gets the same ids, on every machine.
    const id = createHash('sha256').update(body).digest('hex').slice(0, 24);
    const wire = wireOf(chosen, question, id);
    const fault = faultFor(chosen.reply.fault, id);
    if (fault) {
      exchange.fault = fault.kind;
      return sendFault(response, fault, wire);
    }
    exchange.input = chosen.usage.input;
    exchange.output = chosen.usage.output;
    exchange.scripted = await send(response, wire, chosen);
  };

  const wireOf = (chosen: Answer, question: Question, id: string): Wire =>
    (question.api === 'chat' ? chatWire : responsesWire)(chosen, question, id, CREATED);

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = request.url ?? '';
    if (!target.startsWith('/')) {
      proxied(target);
      return sendJson(response, 403, errorBody('this is a model, and no proxy'));
    }
    const path = target.replace(/\?.*$/, '');
    const api = ROUTES[path];
    if (request.method === 'GET' && path.endsWith('/models'))
      return sendJson(response, 200, {
        object: 'list',
        data: (script.models ?? ['scripted']).map((id) => ({
          id,
          object: 'model',
          created: CREATED,
          owned_by: 'k8sbench',
        })),
      });
    if (request.method === 'GET' && path === '/health') return sendJson(response, 200, { status: 'ok' });
    if (request.method === 'GET' && path === '/report')
      return sendJson(response, 200, reportOf(exchanges, foreign));
    if (!api || request.method !== 'POST')
      return sendJson(response, 404, errorBody(`nothing answers ${request.method} ${path}`));
    const body = await bodyOf(request);
    const exchange: Exchange = {
      n: exchanges.length,
      api,
      requestBytes: body.length,
      messages: 0,
      tools: 0,
      arrived: performance.now(),
      scripted: 0,
      input: 0,
      output: 0,
    };
    exchanges.push(exchange);
    watch.arrived?.(exchange);
    await answer(exchange, body, response);
    exchange.ended = performance.now();
    watch.ended?.(exchange);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  // A connection that an agent keeps is its own to end: a turn may take longer than any time limit here.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.on('connect', (request, socket) => {
    proxied(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where.port ?? 0, where.host ?? '127.0.0.1', resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/v1`,
    exchanges,
    report: () => reportOf(exchanges, foreign),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
