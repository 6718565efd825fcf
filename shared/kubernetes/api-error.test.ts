import { expect, test } from 'bun:test';
import { apiError, lacksRight } from './api-error.ts';

const WHO = { user: 'u', context: 'c', server: 'https://s' };
const ABOUT = { verb: 'create', resource: 'pods/exec', namespace: 'n', name: 'p' };

test.each<[string, number, string, boolean, RegExp]>([
  [
    'by RBAC',
    403,
    'pods "p" is forbidden: User "u" cannot get resource "pods/exec" in API group ""',
    true,
    /^not allowed to create pods\/exec 'p' in namespace 'n': pods "p" is forbidden: User .*; the README's grants/,
  ],
  [
    'by a check within a request, which gives no reason (as Kubernetes 1.35.4 refuses exec)',
    403,
    'pods "p" is forbidden: \n',
    true,
    /^not allowed to create pods\/exec 'p' in namespace 'n': pods "p" is forbidden; the README's grants/,
  ],
  [
    'by an admission plugin',
    403,
    'pods "p" is forbidden: exceeded quota: q',
    false,
    /^the cluster refuses to create pods\/exec 'p' in namespace 'n': .* exceeded quota: q$/,
  ],
  ['by a gateway', 403, '', false, /^the cluster refuses to create .*: status 403$/],
  ['not there', 404, 'pods "p" is forbidden: \n', false, /not found/],
])('a refusal %s', (_, code, message, lacks, says) => {
  const error = apiError(ABOUT, code, { message }, WHO);
  expect([lacksRight(error), error.code, error.detail]).toEqual([lacks, code, message]);
  expect(error.message).toMatch(says);
});
