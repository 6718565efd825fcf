/** overhead: what an agent costs on its own, against a model that answers at once. One sample is each scenario once. */
import { type Bench, benchFields, openBench } from './bench.ts';
import { fingerprintOf, type Scenario } from './definition.ts';
import { scriptFor } from './model.ts';
import { type Measured, runPrint, runPrintTools, runVersion } from './print.ts';
import { memoryFields } from './memory.ts';
import { runPty } from './pty.ts';
import { runRpc } from './rpc.ts';
import { roundedAll } from './rounded.ts';
import type { Settings } from './settings.ts';

/** The fields that each scenario has; `exact` is the cgroup's count, left out where none counts the agent alone. */
const common = (name: string, { wall, cpu, exactCpu, peak }: Measured): Record<string, unknown> => ({
  [`${name}Wall`]: wall,
  // What no look met was not measured: neither its time nor its memory.
  ...(cpu === 0 ? {} : { [`${name}Cpu`]: cpu }),
  ...(exactCpu === null ? {} : { [`${name}ExactCpu`]: exactCpu }),
  ...(peak === 0 ? {} : { [`${name}Rss`]: peak }),
});

type Run = (bench: Bench, rounds: number) => Promise<Record<string, unknown>>;

const RUNS: Readonly<Record<Scenario, Run>> = {
  version: async (bench) => {
    const { says, ...measured } = await runVersion(bench);
    return { ...common('version', measured), says };
  },
  print: async (bench) => {
    // A first run sets up the home: that is told, and is no part of what comes after.
    const first = await runPrint(bench);
    return { ...common('firstPrint', first), ...common('print', await runPrint(bench)) };
  },
  'print-tools': async (bench, rounds) => {
    const { open, openCpu, turn, turnCpu, requestBytes, messages, side, ...measured } = await runPrintTools(
      bench,
      rounds,
    );
    return {
      open,
      openCpu,
      turn,
      turnCpu,
      ...(measured.peak === 0 ? {} : { peakRss: measured.peak }),
      ...common('printTools', measured),
      requestBytes,
      requestMessages: messages,
      sideRequests: side,
    };
  },
  rpc: async (bench, rounds) => {
    const { ready, readyCpu, prompt, promptCpu, memory } = await runRpc(bench, rounds);
    return {
      rpcReady: ready,
      rpcReadyCpu: readyCpu,
      rpcPrompt: prompt,
      rpcPromptCpu: promptCpu,
      ...memoryFields('rpc', memory),
    };
  },
  pty: async (bench) => {
    const { first, settled, settledCpu, key, toModel, toScreen, promptCpu, quit, memory } =
      await runPty(bench);
    return {
      ptyFirst: first,
      ptySettled: settled,
      ptySettledCpu: settledCpu,
      ptyKey: key,
      ptyToModel: toModel,
      ptyToScreen: toScreen,
      ptyPromptCpu: promptCpu,
      ptyQuit: quit,
      ...memoryFields('pty', memory),
    };
  },
};

export interface Asked {
  settings: Settings;
  arm: string;
  dir: string;
  rounds: number;
  scenarios: readonly Scenario[];
  limit: number;
}

/** Of these scenarios, those that an agent has no mode for: its settings leave them out. */
export const lacking = (settings: Settings, scenarios: readonly Scenario[]): Scenario[] =>
  scenarios.filter((one) => (one === 'rpc' && !settings.rpc) || (one === 'pty' && !settings.terminal));

/** One sample: the fields of its line. Fails with what the agent did wrong; nothing of it is left then. */
export const overheadSample = async ({
  settings,
  arm,
  dir,
  rounds,
  scenarios,
  limit,
}: Asked): Promise<object> => {
  const bench = await openBench({ settings, arm, dir, limit, script: (tool) => scriptFor(tool, rounds) });
  try {
    const line: Record<string, unknown> = {};
    const left = lacking(settings, scenarios);
    for (const scenario of Object.keys(RUNS) as Scenario[])
      if (scenarios.includes(scenario) && !left.includes(scenario))
        Object.assign(line, await RUNS[scenario](bench, rounds));
    await bench.close();
    return roundedAll({
      ...line,
      ...benchFields(bench),
      foreignHosts: bench.model.server.report().foreign.length,
      ...(left.length > 0 ? { leftOut: left } : {}),
      fingerprint: fingerprintOf(scenarios, rounds),
    });
  } finally {
    await bench.drop();
  }
};
