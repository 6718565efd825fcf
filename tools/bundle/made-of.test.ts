import { expect, test } from 'bun:test';
import { dependenciesIn, refuseOutsiders } from './made-of.ts';

test('dependencies of a rule, blanks in their names', () =>
  expect(dependenciesIn('/t/a b: /s/x.rs /s/with\\ blank.rs\n\n/s/x.rs:\n/t/c: /s/y.rs\n')).toEqual([
    '/s/x.rs',
    '/s/with blank.rs',
    '/s/y.rs',
  ]));

test('files of other places are refused by name', () => {
  refuseOutsiders(['/tmp', '/tmp/a', '/usr/lib/x'], ['/tmp', '/usr/']);
  expect(() => refuseOutsiders(['/tmp/a', '/tmpfile', '/home/me/b', '/home/me/b'], ['/tmp'])).toThrow(
    /^it is made of '\/tmpfile', which .*\nit is made of '\/home\/me\/b', which [^\n]*$/,
  );
  const many = Array.from({ length: 12 }, (_, at) => `/x/${at}`);
  expect(() => refuseOutsiders(many, ['/tmp'])).toThrow('and of 2 more files that are none');
});
