/** ENV.txt: where and with what it was measured, for people. Spec §5. Pure. */
import type { ReadSession } from './sources.ts';
import { plainText } from '../../shared/terminal.ts';

/** One session's block; what the facts don't know is left out. */
const blockOf = ({ facts, pin, data }: ReadSession): string => {
  const governors = Object.entries(pin.governors).map(([core, one]) => `${core}=${one}`);
  const rows: [string, string][] = [
    ['run', facts.run],
    ['mode', facts.mode],
    ['profile', `${facts.profile} (rule ${facts.rule})`],
    ['sizes', `${facts.turns.join(', ')}; ${facts.rounds} rounds`],
    ['measured', `${facts.at}${data.doneAt === undefined ? '' : ` to ${data.doneAt}`}`],
    ['commit', facts.commit],
    ['node', facts.node],
    ['pod', facts.pod],
    ['kernel', facts.kernel],
    ['cpu', facts.cpuModel],
    ['cpu features', facts.cpuFeatures],
    [
      'cpus',
      `online ${facts.cpusOnline}, allowed ${facts.cpusAllowed}, requested ${facts.requestedCpus}, ${facts.cpuSet}`,
    ],
    ['measured cores', `${pin.cpus === '' ? 'not pinned' : pin.cpus} (${pin.method})`],
    ['GOMAXPROCS', String(pin.gomaxprocs)],
    ['governors', governors.join(' ') || 'none'],
    ['fixed clock', pin.fixedClock ? 'yes' : 'no'],
    ['cgroup', facts.cgroup],
    ['cpu.max', facts.cpuMax ?? ''],
    ['memory.max', facts.memoryMax ?? ''],
    ['load', facts.loadavg],
    ['delivery', facts.delivery],
    ['image', facts.image],
    ['bundle', facts.bundleSha256],
    ['node runtime', facts.nodeRuntime],
    ['plan', facts.planSha256 ?? ''],
  ];
  const versions = Object.entries(facts.versions).map(([name, one]) => `  ${name}=${one}`);
  const artifacts = Object.entries(facts.artifacts).map(
    ([path, one]) => `  ${typeof one === 'string' ? one : JSON.stringify(one)}  ${path}`,
  );
  return [
    ...rows.filter(([, value]) => value !== '').map(([name, value]) => `${`${name}:`.padEnd(16)}${value}`),
    ...(versions.length > 0 ? ['versions:', ...versions] : []),
    ...(artifacts.length > 0 ? ['artifacts:', ...artifacts] : []),
  ]
    .map((line) => `${plainText(line)}\n`)
    .join('');
};

/** A block per session, an empty line between them. */
export const envText = (sessions: readonly ReadSession[]): string => sessions.map(blockOf).join('\n');
