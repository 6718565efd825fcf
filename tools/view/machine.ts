/** Where a run was measured, session by session, and what the page was made from. Pure. */
import type { Analysis, Session } from '../../schemas/analysis.ts';
import { htmlTable, type Markup, markup, textLines } from './markup.ts';

const throttled = ({ throttle }: Session): string => {
  const all = Object.values(throttle).filter((one) => one.throttledSamples !== null);
  if (all.length === 0) return 'not measured';
  const sum = (of: (one: (typeof all)[number]) => number): number =>
    all.reduce((total, one) => total + of(one), 0);
  return `${sum((one) => one.throttledSamples!)} of ${sum((one) => one.samples)}`;
};

const sessionRows = ({ sessions }: Analysis): string[][] => [
  [
    'session',
    'node',
    'cores',
    'clock',
    'CPU',
    'GOMAXPROCS',
    'delivery',
    'began',
    'samples held back',
    'foreign lines',
  ],
  ...sessions.map((one) => [
    one.run,
    one.node,
    one.cpus === '' ? `not pinned, ${one.cpuSet}` : `${one.cpus}, ${one.cpuSet}`,
    one.fixedClock ? 'fixed' : 'scaling',
    one.nodeType.cpuModel,
    String(one.nodeType.gomaxprocs),
    one.delivery,
    one.started_at,
    throttled(one),
    String(one.foreignLines),
  ]),
];

/** Texts of a JSON value that came with an import, one level deep. */
const importedRows = ({ imported }: Analysis): string[][] =>
  imported === undefined
    ? []
    : [
        ['fact', 'as imported'],
        ['from', imported.from],
        ...Object.entries(imported.machine).map(([name, value]) => [name, String(value)]),
      ];

const identityRows = ({ identities }: Analysis): string[][] => [
  ['target', 'commit', 'SHA-256'],
  ...Object.entries(identities).map(([name, one]) => [name, one.commit ?? '–', one.sha256 ?? '–']),
];

export const machineSection = (analysis: Analysis, env: string | undefined): Markup => {
  const imported = importedRows(analysis);
  const stopped = analysis.sessions.filter((one) => one.stopped !== undefined);
  return markup`<section aria-labelledby="machine">
    <h2 id="machine">Machine and sessions</h2>
    ${analysis.sessions.length > 0 && htmlTable('Sessions', sessionRows(analysis), [5, 9])}${
      stopped.length > 0 &&
      markup`<ul>
        ${stopped.map((one) => markup`<li>${one.run} stopped early, as planned: ${one.stopped!}</li>`)}
      </ul>`
    }${imported.length > 0 && htmlTable('What the imported file says', imported)}${
      Object.keys(analysis.identities).length > 0 && htmlTable('Measured programs', identityRows(analysis))
    }${
      env !== undefined &&
      markup`<details>
        <summary>Environment (ENV.txt)</summary>
        <pre>${textLines(env)}</pre>
      </details> `
    }
    <details>
      <summary>What this page was made from</summary>
      ${htmlTable('Digests', [
        ['file', 'SHA-256'],
        ...Object.entries({ ...analysis.inputs, ...analysis.outputs }),
      ])}
    </details>
  </section> `;
};
