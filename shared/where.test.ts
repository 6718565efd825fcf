import { describe, expect, test } from 'bun:test';
import * as v from 'valibot';
import { type Values, values as schema } from '../schemas/values.ts';
import type { Configuration } from './configuration.ts';
import { whereOf, type WhereFlags } from './where.ts';

const DIGEST = `@sha256:${'0'.repeat(64)}`;
const IMAGE = { image: `registry.example/bench${DIGEST}`, namespace: 'team' };
const BUNDLE = { bundle: 'dist', baseImage: `node${DIGEST}`, namespace: 'team' };

/** As if the settings stood in the values file; those that are flags too come from the flag. */
const configured = (values: Partial<Values>, flags: Partial<WhereFlags> = {}): Configuration => {
  const merged: Record<string, unknown> = { ...values, ...(flags.node ? { node: flags.node } : {}) };
  return {
    values: v.parse(schema, merged),
    from: (key) => (Object.hasOwn(merged, key) ? `values.yaml:1` : undefined),
    problems: [],
  };
};
const where = (values: Partial<Values>, flags: Partial<WhereFlags> = {}) =>
  whereOf(flags, configured(values, flags));

describe('delivery', () => {
  test.each<[Partial<Values>, Partial<WhereFlags>, object]>([
    [IMAGE, {}, { delivery: 'image', pinned: false }],
    [BUNDLE, {}, { delivery: 'bundle' }],
    [{}, { local: true }, { delivery: 'local', pinned: true }],
    [{ ...IMAGE, node: 'a' }, { local: true }, { delivery: 'local' }],
    [{ ...IMAGE, image: 'bench:1', allowUnpinnedImage: true }, {}, { delivery: 'image' }],
    [{ ...IMAGE, image: `localhost:5000/a/b__c.d:v1.2${DIGEST}` }, {}, { delivery: 'image' }],
    [{ ...IMAGE, image: `[::1]:5000/a${DIGEST}` }, {}, { delivery: 'image' }],
  ])('%j %j', (values, flags, expected) => {
    const found = where(values, flags);
    expect(found.problems).toEqual([]);
    expect(found).toMatchObject(expected);
  });

  test.each<[Partial<Values>, Partial<WhereFlags>, string]>([
    [{ namespace: 'team' }, {}, 'nothing says what to run and where'],
    [{ ...IMAGE, ...BUNDLE }, {}, 'exclude each other; leave one out'],
    [{ image: IMAGE.image }, {}, 'no namespace'],
    [{ bundle: 'x', namespace: 'team' }, {}, 'no base image'],
    [{ ...IMAGE, image: 'bench:latest' }, {}, "'bench:latest' is not pinned"],
    [{ ...IMAGE, image: 'bench@sha256:abc' }, {}, "'bench@sha256:abc' is not an image reference"],
    [{ ...IMAGE, image: `Bench${DIGEST}` }, {}, 'is not an image reference'],
    [{ ...IMAGE, image: `bench${DIGEST} ` }, {}, 'is not an image reference'],
    [{ ...IMAGE, image: `https://a/bench${DIGEST}` }, {}, 'is not an image reference'],
    [{ ...BUNDLE, baseImage: 'node:24' }, {}, "'node:24' is not pinned"],
    [{}, { local: true, image: 'x' }, "'--local' and '--image' exclude each other"],
    [{}, { local: true, nodes: ['a'] }, "'--local' and '--nodes' exclude each other"],
    [{}, { local: true, 'pick-node': true }, "'--local' and '--pick-node' exclude each other"],
  ])('refuses %j %j', (values, flags, sentence) => {
    const { problems } = where(values, flags);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });

  test('what may stand in a file that could not be read is not called missing', () => {
    const unread = { ...configured({ image: 'a', bundle: 'b' }), unread: true as const };
    expect(whereOf({}, unread).problems).toHaveLength(2);
    expect(whereOf({}, { ...configured({}), unread: true }).problems).toEqual([]);
  });

  test('all problems at once', () => {
    expect(where({ image: 'a', baseImage: 'b' }).problems).toHaveLength(3);
  });
});

describe('nodes', () => {
  test.each<[Partial<Values>, Partial<WhereFlags>, object]>([
    [{}, {}, { pinned: false }],
    [{}, { node: 'a' }, { nodes: ['a'], pinned: true }],
    [{ node: 'a' }, {}, { nodes: ['a'], pinned: true }],
    [{}, { nodes: ['a', 'b', 'c'] }, { nodes: ['a', 'b', 'c'], spread: 3, pinned: true }],
    [{}, { nodes: ['a'] }, { nodes: ['a'], pinned: true }],
    [
      {},
      { nodes: ['a', 'b', 'c'], spread: 2 },
      { nodes: ['a', 'b', 'c'], spread: 2, pickNode: true, pinned: true },
    ],
    [{}, { nodes: ['a', 'b'], 'pick-node': true }, { nodes: ['a', 'b'], pickNode: true, pinned: true }],
    [{}, { 'pick-node': true }, { pickNode: true, pinned: true }],
    [{}, { spread: 4 }, { spread: 4, pickNode: true, pinned: true }],
    [{}, { spread: 1 }, { pickNode: true, pinned: true }],
    // A flag that chooses nodes replaces the file's node.
    [{ node: 'a' }, { nodes: ['b'] }, { nodes: ['b'], pinned: true }],
    [{ node: 'a' }, { 'pick-node': true }, { pickNode: true, pinned: true }],
  ])('%j %j', (values, flags, expected) => {
    const { delivery: _, values: resolved, problems, ...found } = where({ ...IMAGE, ...values }, flags);
    expect(problems).toEqual([]);
    expect(found).toEqual(expected as typeof found);
    expect(resolved.node).toBe(
      (flags.node ?? (Object.keys(flags).length === 0 ? values.node : undefined)) as string,
    );
  });

  test.each<[Partial<WhereFlags>, string]>([
    [{ node: 'a', nodes: ['b'] }, "'--node' excludes '--nodes'"],
    [{ node: 'a', 'pick-node': true, spread: 2 }, "'--node' excludes '--pick-node', '--spread'"],
    [{ nodes: ['a', 'b'], spread: 3 }, '3 nodes of 2 named'],
    [{ nodes: ['a', 'B_c'] }, "'B_c' is not a node's name"],
    [{ spread: 2, sessions: 2 }, "'--spread' and '--sessions' exclude each other"],
  ])('refuses %j', (flags, sentence) => {
    const { problems } = where(IMAGE, flags);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });
});
