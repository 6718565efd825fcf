/** The kinds of objects that k8sbench touches, and where the API keeps them. */

/** Any object: metadata is always there, the rest as its kind has it. Timestamps are texts, as the server writes them. */
export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    resourceVersion: string;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/** Resource → the path of its API group and version. */
const GROUPS = {
  configmaps: '/api/v1',
  events: '/api/v1',
  limitranges: '/api/v1',
  namespaces: '/api/v1',
  nodes: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  pods: '/api/v1',
  resourcequotas: '/api/v1',
  secrets: '/api/v1',
  serviceaccounts: '/api/v1',
  services: '/api/v1',
  jobs: '/apis/batch/v1',
  /** Kueue's, where it is installed. */
  localqueues: '/apis/kueue.x-k8s.io/v1beta1',
  roles: '/apis/rbac.authorization.k8s.io/v1',
  rolebindings: '/apis/rbac.authorization.k8s.io/v1',
  clusterroles: '/apis/rbac.authorization.k8s.io/v1',
  clusterrolebindings: '/apis/rbac.authorization.k8s.io/v1',
  selfsubjectaccessreviews: '/apis/authorization.k8s.io/v1',
} as const;

export type Resource = keyof typeof GROUPS;

/** Which objects: those of a namespace, or of all; chosen by labels and fields. */
export interface Scope {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

const query = (fields: Readonly<Record<string, string | number | boolean | undefined>>): string => {
  const words = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== '' && value !== false)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return words.length === 0 ? '' : `?${words.join('&')}`;
};

/** The path of a resource's list, or of one object and one of its subresources. */
export const pathOf = (
  resource: Resource,
  at: { namespace?: string; name?: string; subresource?: string },
  fields: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string =>
  GROUPS[resource] +
  (at.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(at.namespace)}`) +
  `/${resource}` +
  (at.name === undefined ? '' : `/${encodeURIComponent(at.name)}`) +
  (at.subresource === undefined ? '' : `/${at.subresource}`) +
  query(fields);
