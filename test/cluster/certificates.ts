/** Certificates and kubeconfigs of a test cluster. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './kube-binary.ts';

const pki = (directory: string, file: string): string => join(directory, 'pki', file);

/** The cluster's authority, and the keys that sign service account tokens. */
export const makeAuthority = (directory: string): void => {
  if (existsSync(pki(directory, 'ca.crt'))) return;
  run([
    'openssl',
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '30',
    '-subj',
    '/CN=k8sbench-test',
    '-keyout',
    pki(directory, 'ca.key'),
    '-out',
    pki(directory, 'ca.crt'),
  ]);
  run(['openssl', 'genrsa', '-out', pki(directory, 'sa.key'), '2048']);
  run(['openssl', 'rsa', '-in', pki(directory, 'sa.key'), '-pubout', '-out', pki(directory, 'sa.pub')]);
};

/** A certificate for a user or a server: `cn` is the user's name, `group` its group, `names` what a server answers to. */
export const makeCertificate = (
  directory: string,
  file: string,
  { cn, group, names, days = 30 }: { cn: string; group?: string; names?: string; days?: number },
): { cert: string; key: string } => {
  const [key, cert] = [pki(directory, `${file}.key`), pki(directory, `${file}.crt`)];
  if (existsSync(cert)) return { cert, key };
  const extensions = pki(directory, `${file}.ext`);
  writeFileSync(
    extensions,
    `extendedKeyUsage=clientAuth,serverAuth\n${names ? `subjectAltName=${names}\n` : ''}`,
  );
  const request = run([
    'openssl',
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-subj',
    `${group ? `/O=${group}` : ''}/CN=${cn}`,
  ]);
  run(
    [
      'openssl',
      'x509',
      '-req',
      '-days',
      String(days),
      '-out',
      cert,
      '-extfile',
      extensions,
      '-CA',
      pki(directory, 'ca.crt'),
      '-CAkey',
      pki(directory, 'ca.key'),
      '-CAcreateserial',
      '-CAserial',
      pki(directory, `${file}.srl`),
    ],
    { input: request },
  );
  return { cert, key };
};

/** Writes NAME.kubeconfig for a certificate and gives its path. */
export const makeKubeconfig = (
  directory: string,
  name: string,
  server: string,
  namespace = 'default',
): string => {
  const path = join(directory, `${name}.kubeconfig`);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': pki(directory, 'ca.crt') } }],
    users: [
      {
        name,
        user: {
          'client-certificate': pki(directory, `${name}.crt`),
          'client-key': pki(directory, `${name}.key`),
        },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: name, namespace } }],
    'current-context': 'test',
  };
  // JSON is YAML.
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  return path;
};
