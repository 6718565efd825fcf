/** Commands in a container over a WebSocket (`channel.k8s.io`): stdin with back-pressure, stdout, stderr, the exit status. */
import { apiError, ApiError, ConnectionError, connectionError, lacksRight } from './api-error.ts';
import { pathOf } from './objects.ts';
import { type Endpoint, send, stopped, tlsOf, whoOf } from './transport.ts';

export interface Command {
  namespace: string;
  pod: string;
  container: string;
  command: readonly string[];
  /** Sent as it is, then ended. */
  stdin?: AsyncIterable<Uint8Array>;
  stdout?: (part: Uint8Array) => void;
  stderr?: (part: Uint8Array) => void;
  /** For the whole of it, ms. */
  deadline?: number;
  signal?: AbortSignal;
}

/** v5 can end stdin; v4 is what servers before Kubernetes 1.30 speak, where the command has to end by itself. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;
/** Bytes that may wait in the socket: enough to keep a link busy, little enough to hold in memory. */
const MOST_WAITING = 1 << 20;
const LARGEST_FRAME = 256 << 10;
/**
 * Silence that load balancers don't take for a dead connection, ms; and pings without an answer that make one. They are
 * counted, not timed: a process that was stopped for long has heard nothing, and its connection may be as good as before.
 */
const PING_EVERY = 15_000;
const UNANSWERED = 4;
/** What is still on its way to a command that has ended may take so long to be sent, ms. */
const LAST_INPUT_MS = 1000;

/** Bun's WebSocket takes what browsers' do not: headers, verification, a proxy; and has pings. */
type Socket = WebSocket & { ping(): void; terminate(): void };
type SocketMaker = new (url: string, options: object) => Socket;

/** A WebSocket on its way, by the ways of every other request. */
const openSocket = async (
  endpoint: Endpoint,
  path: string,
  protocols: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<Socket> => {
  const { headers, certificate } = await endpoint.source.current();
  return new (WebSocket as unknown as SocketMaker)(endpoint.base.replace(/^http/, 'ws') + path, {
    protocols,
    headers: { 'User-Agent': 'k8sbench', ...headers, ...more },
    perMessageDeflate: false,
    ...(endpoint.proxy === false ? {} : { proxy: endpoint.proxy }),
    ...(endpoint.base.startsWith('https:') ? { tls: tlsOf(endpoint, certificate) } : {}),
  });
};

/** How long a WebSocket may take to open, ms. */
const OPENING_MS = 10_000;

/**
 * Whether a WebSocket gets through to the API server, of an account that may watch pods: tried on a watch, for which no pod
 * has to be there. Of a pod that is missing the server says so before it looks at the upgrade, so exec would not tell.
 */
export const webSocketOpens = async (endpoint: Endpoint, namespace: string): Promise<boolean> => {
  const path = pathOf('pods', { namespace }, { watch: true, timeoutSeconds: 1 });
  // The server wants to know who asks, as browsers tell it.
  const socket = await openSocket(endpoint, path, [], { Origin: endpoint.base });
  const answered = new AbortController();
  const opened = await new Promise<boolean>((resolve) => {
    const { signal } = answered;
    socket.addEventListener('open', () => resolve(true), { signal });
    for (const how of ['error', 'close'] as const)
      socket.addEventListener(how, () => resolve(false), { signal });
    for (const stop of [endpoint.signal, AbortSignal.timeout(OPENING_MS)])
      stop.addEventListener('abort', () => resolve(false), { signal });
  });
  answered.abort();
  socket.terminate();
  return opened;
};

interface Status {
  status?: string;
  reason?: string;
  message?: string;
  details?: { causes?: { reason?: string; message?: string }[] };
}

/** The exit status that the last frame tells; a status that tells none (the command can't be started) is thrown. */
const exitOf = (status: Status, { pod, command }: Command): number => {
  if (status.status === 'Success') return 0;
  const code = status.details?.causes?.find((one) => one.reason === 'ExitCode')?.message;
  if (status.reason === 'NonZeroExitCode' && code !== undefined) return Number(code);
  const detail = status.message ?? 'no reason given';
  throw new ApiError(`can't run '${command[0]}' in pod '${pod}': ${detail}`, {
    code: 500,
    reason: status.reason ?? '',
    detail,
  });
};

/** A refused upgrade carries no text; the same address asked plainly says why. What passes as `get` is refused as `create`. */
const refusalOf = async (
  endpoint: Endpoint,
  path: string,
  command: Command,
  said: string,
): Promise<Error> => {
  const about = { verb: 'get', resource: 'pods/exec', namespace: command.namespace, name: command.pod };
  try {
    await send(endpoint, {
      about,
      path,
      deadline: 15_000,
      ...(command.signal ? { signal: command.signal } : {}),
    });
  } catch (error) {
    const upgradeMissing = error instanceof ApiError && error.code === 400;
    const asCreate = error instanceof ApiError && lacksRight(error) && !/cannot get /.test(error.detail);
    if (asCreate)
      return apiError(
        { ...about, verb: 'create' },
        error.code,
        { reason: error.reason, message: error.detail },
        whoOf(endpoint),
      );
    if (error instanceof ApiError && !upgradeMissing) return error;
  }
  return connectionError(new Error(said), { server: endpoint.base, proxy: endpoint.proxy });
};

/**
 * Runs a command and gives its exit status once the status frame came and stdin was taken. Settles on the first of
 * status, close, error, deadline and stop: a close without status is a ConnectionError, never success. A command that
 * ends with 0 may still have been given less than was sent: whoever sends data checks a digest at the other end. One that
 * leaves its input unread may never tell its status (kubectl waits for ever, too): give those a deadline. Of such a one the
 * server may even say success where it failed (seen on 1.34: the status is lost between kubelet and API server, and none
 * counts as a good one), so that success before all of stdin was sent is a ConnectionError.
 *
 * Exec over WebSocket is authorised as `get` on pods/exec, and from Kubernetes 1.35 on as `create`, too.
 */
export const exec = async (endpoint: Endpoint, command: Command): Promise<number> => {
  const { namespace, pod, container, stdin, stdout, stderr } = command;
  const fields = { container, stdin: stdin !== undefined, stdout: stdout !== undefined, stderr: true };
  const words = command.command.map((word) => `&command=${encodeURIComponent(word)}`).join('');
  const path = pathOf('pods', { namespace, name: pod, subresource: 'exec' }, fields) + words;
  const socket = await openSocket(endpoint, path, PROTOCOLS);
  socket.binaryType = 'arraybuffer';
  const closing = new AbortController();
  const stops = [endpoint.signal, command.signal].filter((one) => one !== undefined);
  const limit = command.deadline ? AbortSignal.timeout(command.deadline) : undefined;
  const broken = (why: string): ConnectionError =>
    new ConnectionError(`the exec connection to pod '${pod}' ${why}`, { final: false, sent: true });

  const ended = new Promise<number>((resolve, reject) => {
    let unanswered = 0;
    let opened = false;
    let failure: string | undefined;
    let sending: Promise<void> | undefined;
    let sent = stdin === undefined;
    let succeeded = false;
    const success = async (): Promise<void> => {
      succeeded = true;
      if (!sent) await Promise.race([sending, Bun.sleep(LAST_INPUT_MS)]);
      end(() => (sent ? resolve(0) : reject(broken('ended before all of its input was sent'))));
    };
    const ping = setInterval(() => {
      if (unanswered++ >= UNANSWERED) end(() => reject(broken('went silent')));
      else if (socket.readyState === WebSocket.OPEN) socket.ping();
    }, PING_EVERY);
    const end = (settle: () => void): void => {
      if (closing.signal.aborted) return;
      closing.abort();
      clearInterval(ping);
      settle();
      // Without waiting for the other side's goodbye: it may be gone.
      socket.terminate();
    };
    socket.addEventListener('open', () => {
      opened = true;
      unanswered = 0;
      if (!PROTOCOLS.includes(socket.protocol)) end(() => reject(broken('agreed on no known protocol')));
      else if (stdin)
        sending = pump(socket, stdin, closing.signal, (error) => end(() => reject(error))).then(
          () => void (sent = true),
          (error: unknown) => end(() => reject(error as Error)),
        );
    });
    socket.addEventListener('pong' as 'message', () => (unanswered = 0));
    socket.addEventListener('message', ({ data }) => {
      unanswered = 0;
      const frame = new Uint8Array(data as ArrayBuffer);
      const part = frame.subarray(1);
      try {
        if (frame[0] === CHANNEL.stdout && part.length > 0) stdout?.(part);
        if (frame[0] === CHANNEL.stderr && part.length > 0) stderr?.(part);
        if (frame[0] === CHANNEL.status) {
          const exit = exitOf(JSON.parse(new TextDecoder().decode(part)) as Status, command);
          if (exit === 0) void success();
          else end(() => resolve(exit));
        }
      } catch (error) {
        end(() => reject(error as Error));
      }
    });
    socket.addEventListener('error', (event) => (failure ??= String((event as ErrorEvent).message ?? '')));
    socket.addEventListener('close', ({ code }) => {
      if (succeeded) return;
      const why = failure ?? '';
      if (opened) end(() => reject(broken(`closed (${code}) before the command's status came`)));
      else
        end(() =>
          resolve(
            refusalOf(endpoint, path, command, why.replace(/^.*? failed: /, '')).then((error) =>
              Promise.reject(error),
            ),
          ),
        );
    });
    for (const signal of stops)
      signal.addEventListener('abort', () => end(() => reject(stopped(endpoint, command)!)), {
        once: true,
        signal: closing.signal,
      });
    limit?.addEventListener('abort', () =>
      end(() =>
        reject(broken(`was cut: '${command.command[0]}' took longer than ${command.deadline! / 1000} s`)),
      ),
    );
    if (stopped(endpoint, command)) end(() => reject(stopped(endpoint, command)!));
  });
  return await ended;
};

/** Sends stdin in frames, never more than the socket takes, and ends it. */
const pump = async (
  socket: Socket,
  stdin: AsyncIterable<Uint8Array>,
  closed: AbortSignal,
  fail: (error: Error) => void,
): Promise<void> => {
  let sinceHeard = 0;
  for await (const part of stdin)
    for (let at = 0; at < part.length; at += LARGEST_FRAME) {
      if (closed.aborted) return;
      const piece = part.subarray(at, at + LARGEST_FRAME);
      const frame = new Uint8Array(piece.length + 1);
      frame[0] = CHANNEL.stdin;
      frame.set(piece, 1);
      socket.send(frame);
      // A server that takes everything at once must not keep us from hearing that the command has ended.
      sinceHeard += frame.length;
      if (sinceHeard > MOST_WAITING) {
        sinceHeard = 0;
        await new Promise((heard) => setImmediate(heard));
      }
      // There is no event for a socket that has room again.
      while (socket.bufferedAmount > MOST_WAITING && !closed.aborted) await Bun.sleep(1);
    }
  if (closed.aborted) return;
  if (socket.protocol === PROTOCOLS[0]) socket.send(new Uint8Array([CHANNEL.close, CHANNEL.stdin]));
  else
    fail(
      new ConnectionError(
        'this API server can not end the input of a command; use Kubernetes 1.30 or later',
        { final: true, sent: true },
      ),
    );
};
