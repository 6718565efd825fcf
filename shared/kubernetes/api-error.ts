/** What can go wrong between us and an API server, in words, with what the caller needs to tell cases apart. */
import { EXIT } from '../exit.ts';
import { cause, Failure } from '../failure.ts';

/** The API server answered, and refused. `code` is the HTTP status, `reason` the word of its Status object. */
export class ApiError extends Failure {
  readonly code: number;
  readonly reason: string;
  /** The server's own sentence. */
  readonly detail: string;
  /** From Retry-After, ms. */
  readonly retryAfter?: number;

  constructor(
    message: string,
    fields: { code: number; reason: string; detail: string; retryAfter?: number },
  ) {
    super(EXIT.failed, message);
    this.name = 'ApiError';
    this.code = fields.code;
    this.reason = fields.reason;
    this.detail = fields.detail;
    if (fields.retryAfter !== undefined) this.retryAfter = fields.retryAfter;
  }
}

/** No answer, or half of one: the connection could not be made, broke, or took too long. May be worth another try unless `final`. */
export class ConnectionError extends Failure {
  /** Another try can't help: a certificate, a name that does not exist. */
  readonly final: boolean;
  /** The request may have reached the server. */
  readonly sent: boolean;

  constructor(message: string, fields: { final: boolean; sent: boolean }) {
    super(EXIT.failed, message);
    this.name = 'ConnectionError';
    this.final = fields.final;
    this.sent = fields.sent;
  }
}

/**
 * A refusal of who lacks a right, and not by an admission plugin, which answers 403 as well. Checks within a request give no
 * reason: that of `create` on exec, from Kubernetes 1.35 on.
 */
export const lacksRight = ({ code, detail }: { code: number; detail: string }): boolean =>
  code === 403 && /cannot \w+ resource|is forbidden: (User |\s*$)/.test(detail);

export const isStatus = (error: unknown, code: number): error is ApiError =>
  error instanceof ApiError && error.code === code;
export const isForbidden = (error: unknown): error is ApiError => isStatus(error, 403);
export const isNotFound = (error: unknown): error is ApiError => isStatus(error, 404);

/** What a request is about, for messages and for the rights it needs. */
export interface About {
  /** The verb as RBAC names it: get, list, watch, create, patch, delete. */
  verb: string;
  /** `pods`, `pods/log`, `jobs`, … */
  resource: string;
  namespace?: string;
  name?: string;
}

const thing = ({ resource, namespace, name }: About): string =>
  `${resource}${name ? ` '${name}'` : ''}${namespace ? ` in namespace '${namespace}'` : ''}`;

/** A refusal in words: what was asked, what the server said, what to do. */
export const apiError = (
  about: About,
  code: number,
  status: { reason?: unknown; message?: unknown },
  who: { user: string; server: string; context: string },
  retryAfter?: number,
): ApiError => {
  const detail = typeof status.message === 'string' ? status.message : '';
  const reason = typeof status.reason === 'string' ? status.reason : '';
  const said = detail === '' ? `status ${code}` : detail.replace(/[:\s]+$/, '');
  const { verb } = about;
  const message =
    code === 401
      ? `the API server '${who.server}' does not know the credentials of user '${who.user}' (context '${who.context}'); log in again, or choose another context`
      : lacksRight({ code, detail })
        ? `not allowed to ${verb} ${thing(about)}: ${said}; the README's grants list what k8sbench needs`
        : code === 403
          ? `the cluster refuses to ${verb} ${thing(about)}: ${said}`
          : code === 404
            ? `can't ${verb} ${thing(about)}: not found${detail === '' ? '' : ` (${detail})`}`
            : code === 429
              ? `the API server '${who.server}' is too busy to ${verb} ${thing(about)}: ${said}; try again later`
              : `can't ${verb} ${thing(about)}: ${said}`;
  return new ApiError(message, {
    code,
    reason,
    detail,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
};

const CERTIFICATE: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is not signed by the kubeconfig's authority",
  UNABLE_TO_GET_ISSUER_CERT: "its certificate's issuer is not known",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate's issuer is not known",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is not signed by the kubeconfig's authority",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed and not the kubeconfig's authority",
  CERT_SIGNATURE_FAILURE: "its certificate is not signed by the kubeconfig's authority",
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: "its certificate is not valid yet; is this machine's clock right?",
  CERT_UNTRUSTED: "its certificate is not signed by the kubeconfig's authority",
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name; set tls-server-name in the kubeconfig',
};

const UNREACHABLE: Readonly<Record<string, { said: string; final?: boolean; sent?: boolean }>> = {
  ECONNREFUSED: { said: 'connection refused; is it running, and is the address right?' },
  ENOTFOUND: { said: 'its name is not known; is the address right, and is a VPN needed?', final: true },
  EAI_AGAIN: { said: "its name can't be looked up now" },
  ENETUNREACH: { said: 'no way to its network; is a VPN needed?' },
  EHOSTUNREACH: { said: 'no way to its host; is a VPN needed?' },
  ETIMEDOUT: { said: 'it does not answer' },
  ECONNRESET: { said: 'the connection broke', sent: true },
  ConnectionClosed: { said: 'the connection broke', sent: true },
};

/** A transport error in words. */
export const connectionError = (
  error: unknown,
  where: { server: string; proxy: string | false },
  deadline?: number,
): ConnectionError => {
  const code = String((error as { code?: unknown })?.code ?? '');
  const name = (error as { name?: unknown })?.name;
  const text = error instanceof Error ? error.message : String(error);
  const target = `the API server '${where.server}'${where.proxy === false ? '' : ` through the proxy '${withoutPassword(where.proxy)}'`}`;
  if (name === 'TimeoutError')
    return new ConnectionError(
      `no answer from ${target}${deadline ? ` within ${deadline / 1000} s` : ''}; is it reachable?`,
      { final: false, sent: true },
    );
  const certificate =
    CERTIFICATE[code] ?? Object.entries(CERTIFICATE).find(([key]) => text.includes(key))?.[1];
  if (certificate !== undefined || /certificate|altnames|TLS handshake/i.test(text))
    return new ConnectionError(
      `can't trust ${target}: ${certificate ?? text}; verification is only off when the kubeconfig says so`,
      { final: true, sent: false },
    );
  const known = UNREACHABLE[code];
  return new ConnectionError(`can't reach ${target}: ${known?.said ?? cause(error)}`, {
    final: known?.final ?? false,
    sent: known?.sent ?? !(code in UNREACHABLE),
  });
};

/** A proxy's URL as it may be shown. */
const withoutPassword = (proxy: string): string => {
  const url = new URL(proxy);
  url.username = '';
  url.password = '';
  return url.href.replace(/\/$/, '');
};
