/** Whether the targets of a run did the same work on the same kind of machine (spec §6). Pure. */
import type { NodeType } from '../../schemas/analysis.ts';
import { nodeTypeName } from '../../shared/node-type.ts';
import { measuredTargets } from './measured-profile.ts';
import type { ReadSession } from './sources.ts';

const listed = (values: Iterable<string>): string => [...values].map((one) => `'${one}'`).join(', ');

/** Differences that make a comparison meaningless, one sentence each; empty when like was compared with like. */
export const likeForLike = (sessions: readonly ReadSession[]): string[] => [
  ...sessions.flatMap(inOneSession),
  ...(sessions.length > 1 ? acrossSessions(sessions) : []),
];

const inOneSession = (session: ReadSession): string[] => {
  const { data, facts } = session;
  const types = data.nodeTypes;
  return [
    ...facts.turns.flatMap((turns) =>
      [seedProblems, transcriptProblems, countProblems].flatMap((problems) => problems(session, turns)),
    ),
    ...(types.length <= 1
      ? []
      : [
          `more than one node type within a session: ${listed(types.slice(0, TYPES).map(shortType))}${types.length > TYPES ? ` and ${types.length - TYPES} more` : ''}; the pod moved or its cores changed`,
        ]),
  ].map((one) => `${data.place}: ${one}`);
};

/** So many node types are named. */
const TYPES = 5;

/** A log may call a processor anything. */
const shortType = (type: NodeType): string => {
  const name = nodeTypeName(type);
  return name.length > 300 ? `${name.slice(0, 297)}...` : name;
};

/** One seed line per target and size, floors excepted; fingerprints as the profile pins them, and equal. */
const seedProblems = ({ data, facts, profile }: ReadSession, turns: number): string[] => {
  const problems: string[] = [];
  const found = new Map<string, string[]>();
  const pinned = profile.fingerprints[String(turns)];
  for (const target of measuredTargets(profile, facts.mode)) {
    const seeds = data.seeds.filter((one) => one.target === target.name && one.turns === turns);
    const wanted = target.role === 'floor' ? 0 : 1;
    if (seeds.length !== wanted)
      problems.push(
        `'${target.name}' at ${turns} turns: expected ${wanted} seed lines, found ${seeds.length}`,
      );
    for (const { fingerprint } of seeds) {
      if (pinned !== undefined && fingerprint !== pinned)
        problems.push(
          `'${target.name}' at ${turns} turns: the seed has fingerprint '${fingerprint}', the profile wants '${pinned}'; it built another history`,
        );
      found.set(fingerprint, [...(found.get(fingerprint) ?? []), target.name]);
    }
  }
  if (found.size > 1)
    problems.push(
      `seeds at ${turns} turns differ: ${[...found].map(([one, names]) => `'${one}' of ${listed(names)}`).join(', ')}; the targets did not build the same history`,
    );
  return problems;
};

/** All measured transcripts agree; a target says its fingerprint in every sample or in none. */
const transcriptProblems = ({ data, facts, profile }: ReadSession, turns: number): string[] => {
  const problems: string[] = [];
  const found = new Map<string, string[]>();
  for (const { name } of measuredTargets(profile, facts.mode)) {
    const { fingerprints, count } = data.samples(name, turns);
    const said = fingerprints.values().reduce((sum, one) => sum + one, 0);
    if (said > 0 && said < count)
      problems.push(`'${name}' at ${turns} turns: ${count - said} of ${count} samples have no fingerprint`);
    for (const fingerprint of fingerprints.keys())
      found.set(fingerprint, [...(found.get(fingerprint) ?? []), name]);
  }
  if (found.size > 1)
    problems.push(
      `measured transcripts at ${turns} turns differ: ${[...found].map(([one, names]) => `'${one}' of ${listed(names)}`).join(', ')}; the targets did not do the same work`,
    );
  return problems;
};

/** Equal, non-zero sample counts, each round once. */
const countProblems = ({ data, facts, profile }: ReadSession, turns: number): string[] => {
  const all = measuredTargets(profile, facts.mode).map(({ name }) => ({
    name,
    of: data.samples(name, turns),
  }));
  const counts = new Set(all.map((one) => one.of.count));
  return [
    ...(counts.size === 1 && !counts.has(0)
      ? []
      : [
          `samples at ${turns} turns: expected as many of each target, and at least one, found ${all
            .map((one) => `${one.of.count} of '${one.name}'`)
            .join(', ')}`,
        ]),
    ...all
      .filter((one) => one.of.repeatedRounds.length > 0)
      .map(
        (one) =>
          `'${one.name}' at ${turns} turns: round ${one.of.repeatedRounds.join(', ')} stands more than once`,
      ),
  ];
};

/** One mode, profile, commit, size list and node type across the sessions of a run. */
const acrossSessions = (sessions: readonly ReadSession[]): string[] => {
  const sameness: [string, (session: ReadSession) => string][] = [
    ['mode', ({ facts }) => facts.mode],
    ['profile', ({ facts }) => `${facts.profile} (${facts.rule})`],
    ['commit', ({ facts }) => facts.commit],
    ['size list', ({ facts }) => facts.turns.join(',')],
    ['node type', ({ data }) => data.nodeTypes.map(shortType).join(' and ')],
  ];
  const problems = sameness.flatMap(([what, of]) => {
    const found = Map.groupBy(sessions, of);
    if (found.size <= 1) return [];
    const each = [...found].map(
      ([value, its]) => `'${value}' in ${its.map((one) => one.data.place).join(', ')}`,
    );
    return [`the sessions differ in their ${what}: ${each.join('; ')}; compare like with like`];
  });
  const specs = new Set(sessions.map(({ facts }) => JSON.stringify(facts.profileSpec)));
  if (specs.size > 1 && !problems.some((one) => one.includes('their profile')))
    problems.push('the sessions differ in their profile: same name, other content; compare like with like');
  for (const turns of sessions[0]!.facts.turns) problems.push(...fingerprintsAcross(sessions, turns));
  return problems;
};

/** The sessions of a run built and measured one history. */
const fingerprintsAcross = (sessions: readonly ReadSession[], turns: number): string[] => {
  const seeds = new Set(
    sessions.flatMap(({ data }) =>
      data.seeds.filter((one) => one.turns === turns).map((one) => one.fingerprint),
    ),
  );
  const transcripts = new Set(
    sessions.flatMap(({ data, facts, profile }) =>
      measuredTargets(profile, facts.mode).flatMap((one) =>
        data.samples(one.name, turns).fingerprints.keys().toArray(),
      ),
    ),
  );
  const differ = (what: string, found: Set<string>): string[] =>
    found.size > 1 ? [`the sessions differ in their ${what} at ${turns} turns: ${listed(found)}`] : [];
  return [...differ("seeds' fingerprints", seeds), ...differ("transcripts' fingerprints", transcripts)];
};
