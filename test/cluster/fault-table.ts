/** Everything that can go wrong in a cluster, by kind: fault → message → exit status. Rows stand in fault-table-*.ts. */
import type { Fault } from './fault.ts';
import { OF_BUNDLE } from './fault-table-bundle.ts';
import { ON_NODE } from './fault-table-node.ts';
import { RUNNING } from './fault-table-run.ts';
import { OF_SERVER } from './fault-table-server.ts';
import { STARTING } from './fault-table-start.ts';

export const TABLE: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  'before it runs': STARTING,
  'while it runs': RUNNING,
  'of its node': ON_NODE,
  'of its bundle and its account': OF_BUNDLE,
  'of its API server': OF_SERVER,
};

/** What must have a row, by the name it has in the design; RBAC refusals verb by verb are in grants.test.ts. */
export const NAMED: Readonly<Record<string, readonly string[]>> = {
  'image missing': ['an image that is not there', 'an image that is never pulled'],
  'digest wrong': ['a digest that its registry does not have'],
  'registry busy': [
    'a registry that is busy: waited for',
    'a registry that is busy for longer than it takes to settle, and serves then',
  ],
  'unschedulable: CPU': ['a deadline while no node has CPUs'],
  'unschedulable: memory': ['a deadline while no node has memory'],
  'unschedulable: taint': ['a taint that it does not tolerate'],
  'unschedulable: selector': ['a selector that no node has', 'a node that does not exist'],
  'unschedulable: quota': ['a quota that is too small'],
  'config error: ConfigMap': ['a missing ConfigMap'],
  'config error: Secret': ['a missing Secret'],
  'config error: claim': ['a missing claim'],
  TopologyAffinityError: ['its kubelet can not align its resources: TopologyAffinityError'],
  UnexpectedAdmissionError: ['its kubelet can not give it the CPUs: UnexpectedAdmissionError'],
  'OOM kill': ['memory used up', 'memory used up while it measures'],
  'eviction by taint': ['a taint evicts it'],
  eviction: ['it is drained: the eviction API'],
  preemption: ['a pod of higher priority takes its place'],
  'node cordoned': ['its node is cordoned'],
  'node gone': ['its node goes away, and does not come back'],
  deadline: ['a deadline'],
  'Job deleted by another': ['its Job is deleted'],
  'pod deleted by another': ['its pod is deleted'],
  'namespace terminating': ['its namespace is deleted'],
  'webhook that adds a sidecar': ['a webhook adds a sidecar: void before anything is measured'],
  'API server stopped for a minute': [
    'an API server that stands still for a minute, while another session is submitted',
  ],
  'API server away during delivery': ['an API server that is away while a bundle is sent'],
  'API server restarted': ['an API server that is killed, and started again'],
  'watch expired': ['watches that expired: an API server that has forgotten its history (410)'],
  '429': ['an API server that is too busy for this user (429)'],
  '5xx': ['a load balancer that has no server every now and then (502, 503, 504)'],
  'LimitRange refusal': ['limits that refuse it', 'limits that change it'],
  'Pod Security refusal': ['a namespace that admits only restricted pods'],
  'RBAC refusal': ['an account that may nothing'],
  'exec refused': ['an account that may not exec'],
  'wrong architecture': [
    'an image for other architectures',
    'a program of another architecture',
    'a bundle for another architecture',
  ],
  'wrong Node release': ['a bundle for another release of Node'],
  'corrupt bundle': ['a bundle that was changed after it was planned'],
  'scratch volume full': [
    'more is written to disk than its scratch space holds',
    'scratch space in memory is full',
    'a bundle larger than the scratch space of its pod',
  ],
  'workload crash': ['a workload that crashes'],
  'workload hang': ['a workload that hangs'],
  'kubelet restart': ['its kubelet restarts: nothing is lost'],
  'runner stopped': ['a runner that stands still while its session ends'],
};
