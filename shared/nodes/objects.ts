/** The parts of Node and Pod objects that choosing nodes looks at, as the API writes them. Anything may be absent. */

export type Requests = Partial<Record<string, string>>;

export interface Container {
  name: string;
  resources?: { requests?: Requests };
  restartPolicy?: string;
}

export interface ContainerStatus {
  name: string;
  /** What the container runs with. */
  resources?: { requests?: Requests };
  /** What the node has set aside for it. */
  allocatedResources?: Requests;
}

export interface Pod {
  metadata: { name: string; namespace?: string };
  spec: {
    nodeName?: string;
    containers: Container[];
    initContainers?: Container[];
    resources?: { requests?: Requests };
    overhead?: Requests;
  };
  status?: {
    phase?: string;
    conditions?: { type: string; reason?: string }[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
    resources?: { requests?: Requests };
    allocatedResources?: Requests;
  };
}

export interface Taint {
  key: string;
  value?: string;
  effect: string;
}

export interface Node {
  metadata: { name: string; labels?: Record<string, string> };
  spec?: { unschedulable?: boolean; taints?: Taint[] };
  status?: {
    allocatable?: Requests;
    conditions?: { type: string; status: string }[];
    /** Images that it holds; kubelets name the 50 largest. */
    images?: { names?: string[] | null }[] | null;
    nodeInfo?: { architecture?: string; operatingSystem?: string };
  };
}
