/** Credential plugins of client-go (`users[].user.exec`): a program that prints an ExecCredential. */
import { spawn } from 'node:child_process';
import { failed } from '../failure.ts';
import type { Access, ExecPlugin } from './kubeconfig.ts';

/** What a plugin gave, and until when (ms since the epoch; absent: until it is refused). */
export interface PluginCredentials {
  token?: string;
  certificate?: { cert: string; key: string };
  until?: number;
}

/** What the plugin is told in KUBERNETES_EXEC_INFO. */
const infoFor = (plugin: ExecPlugin, access: Access, interactive: boolean): string =>
  JSON.stringify({
    kind: 'ExecCredential',
    apiVersion: plugin.apiVersion,
    spec: {
      ...(plugin.provideClusterInfo
        ? {
            cluster: {
              server: access.server,
              ...(access.serverName ? { 'tls-server-name': access.serverName } : {}),
              ...(access.insecure ? { 'insecure-skip-tls-verify': true } : {}),
              ...(access.ca
                ? { 'certificate-authority-data': Buffer.from(access.ca).toString('base64') }
                : {}),
              ...(access.proxyUrl ? { 'proxy-url': access.proxyUrl } : {}),
              ...(access.pluginConfig === undefined ? {} : { config: access.pluginConfig }),
            },
          }
        : {}),
      interactive,
    },
  });

/**
 * Runs a plugin. Its stderr goes to ours, so that it can ask people to log in; what it prints on stdout is never shown.
 * A plugin that is missing, fails or prints something else is a Failure with the kubeconfig's install hint.
 */
export const runPlugin = async (
  plugin: ExecPlugin,
  access: Access,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<PluginCredentials> => {
  const interactive = plugin.interactiveMode !== 'Never' && process.stdin.isTTY === true;
  const named = `the exec plugin '${plugin.command}' of user '${access.user.name}'`;
  if (plugin.interactiveMode === 'Always' && !interactive)
    throw failed(`${named} needs a terminal to ask on; log in once by hand, or use other credentials`);
  const asked = {
    ...env,
    ...Object.fromEntries(plugin.env.map((one) => [one.name, one.value])),
    KUBERNETES_EXEC_INFO: infoFor(plugin, access, interactive),
  };
  const printed = await new Promise<string>((resolve, reject) => {
    const child = spawn(plugin.command, plugin.args, {
      env: asked,
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      signal,
    });
    const parts: Buffer[] = [];
    child.stdout!.on('data', (part: Buffer) => parts.push(part));
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        failed(
          `${named} can't be started: ${error.code === 'ENOENT' ? 'it is not on the PATH' : error.message}` +
            (plugin.installHint === '' ? '; install it' : `; ${plugin.installHint.trim()}`),
        ),
      ),
    );
    child.on('close', (status, killed) =>
      status === 0
        ? resolve(Buffer.concat(parts).toString('utf8'))
        : reject(failed(`${named} ended with ${killed ?? `status ${status}`}; run it by hand to see why`)),
    );
  });
  const status = statusOf(printed, plugin.apiVersion);
  if (typeof status === 'string') throw failed(`${named} ${status}`);
  return status;
};

/** The credentials in what a plugin printed, or what is wrong with it. */
const statusOf = (printed: string, apiVersion: string): PluginCredentials | string => {
  let read: unknown;
  try {
    read = JSON.parse(printed);
  } catch {
    return 'printed no JSON; run it by hand to see what it prints';
  }
  const { kind, apiVersion: version, status } = (read ?? {}) as Record<string, unknown>;
  if (kind !== 'ExecCredential') return `printed a '${String(kind)}'; expected an ExecCredential`;
  if (version !== apiVersion)
    return `printed version '${String(version)}', the kubeconfig says '${apiVersion}'; make them agree`;
  const fields = (status ?? {}) as Record<string, unknown>;
  const text = (key: string): string | undefined =>
    typeof fields[key] === 'string' && fields[key] !== '' ? fields[key] : undefined;
  const token = text('token');
  const [cert, key] = [text('clientCertificateData'), text('clientKeyData')];
  if (token === undefined && (cert === undefined || key === undefined))
    return 'gave neither a token nor a client certificate with its key';
  const until = Date.parse(text('expirationTimestamp') ?? '');
  return {
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined || key === undefined ? {} : { certificate: { cert, key } }),
    ...(Number.isNaN(until) ? {} : { until }),
  };
};
