import { expect, test } from 'bun:test';
import { values as valuesSchema } from '../../schemas/values.ts';
import * as v from 'valibot';
import { withKeptKubeconfig } from './kubeconfig-path.ts';

test.each([
  ['config', '/here/config'],
  ['../config', '/config'],
  ['/etc/config', '/etc/config'],
  ['~/config', '~/config'],
  ['a:/b::c', '/here/a:/b:/here/c'],
  [undefined, undefined],
])('%p stands for %p, wherever the run is taken up', (given, kept) => {
  const values = v.parse(valuesSchema, given === undefined ? {} : { kubeconfig: given });
  expect(withKeptKubeconfig(values, '/here').kubeconfig).toBe(kept!);
});
