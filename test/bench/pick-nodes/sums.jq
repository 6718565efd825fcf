# Free CPU and memory of every node, summed as pick-nodes sums them (sidecars, init containers, overhead; no resizes).
def q: if . == null then 0 else capture("^(?<n>[0-9.]+(e[0-9]+)?)(?<s>m|Ki|Mi|Gi|Ti|k|M|G|T)?$") | (.n|tonumber) * ({"m":0.001,"Ki":1024,"Mi":1048576,"Gi":1073741824,"Ti":1099511627776,"k":1000,"M":1000000,"G":1000000000,"T":1000000000000}[.s // ""] // 1) end;
def need($r): (reduce (.spec.containers[] , ((.spec.initContainers // [])[] | select(.restartPolicy == "Always"))) as $c (0; . + ($c.resources.requests[$r] | q))) as $sum
 | (reduce (.spec.initContainers // [])[] as $c ({s: 0, m: 0}; ($c.resources.requests[$r] | q) as $n | if $c.restartPolicy == "Always" then .s += $n | .m = ([.m, .s] | max) else .m = ([.m, .s + $n] | max) end) | .m) as $init
 | ([$sum, $init] | max) + (.spec.overhead[$r] | q);
(reduce (.items[] | select(.kind == "Pod" and .spec.nodeName and .status.phase != "Succeeded" and .status.phase != "Failed")) as $p ({};
   .[$p.spec.nodeName] |= {cpu: ((.cpu // 0) + ($p | need("cpu"))), memory: ((.memory // 0) + ($p | need("memory"))), pods: ((.pods // 0) + 1)})) as $used
| [.items[] | select(.kind == "Node") | {name: .metadata.name, freeCpu: ((.status.allocatable.cpu | q) - ($used[.metadata.name].cpu // 0)), freeMemory: ((.status.allocatable.memory | q) - ($used[.metadata.name].memory // 0)), pods: ($used[.metadata.name].pods // 0)}]
