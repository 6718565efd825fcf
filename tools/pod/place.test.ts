import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompactPlan } from '../../schemas/plan.ts';
import { placeOf } from './place.ts';
import { refuseOtherRuntime, stepEnvironment } from './runtime.ts';

const planOf = (delivery: string, word = 'x'): CompactPlan =>
  ({
    delivery,
    profile: { targets: [{ name: 'a', role: 'reference', command: [word] }] },
  }) as unknown as CompactPlan;

describe('the place', () => {
  test('comes from the environment', () => {
    const env = {
      K8SBENCH_ROOT: '/r/',
      K8SBENCH_DATA: '/d//',
      K8SBENCH_DELIVERY: 'bundle',
      NODE_NAME: 'n',
      POD_NAME: 'p',
      K8SBENCH_IMAGE_REF: 'i@sha256:0',
      K8SBENCH_BUNDLE_SHA256: 's',
      K8SBENCH_COMMIT: 'c',
    };
    expect(placeOf(env, planOf('local'), '/w', 'host')).toEqual({
      delivery: 'bundle',
      root: '/r',
      data: '/d',
      cwd: '/w',
      node: 'n',
      pod: 'p',
      image: 'i@sha256:0',
      bundleSha256: 's',
      commit: 'c',
    });
  });

  test('has defaults in pods, and here the name of this host', () => {
    expect(placeOf({}, planOf('image'), '/w', 'h')).toMatchObject({ root: '/opt/k8sbench', data: '/data' });
    expect(placeOf({}, planOf('bundle'), '/w', 'h')).toMatchObject({ root: '/bundle/root', data: '/data' });
    const here = placeOf({}, planOf('local'), '/w', 'h');
    expect(here).toMatchObject({ root: '', node: 'h', pod: '', image: '' });
    expect('data' in here).toBe(false);
  });

  test('{root} must be somewhere', () => {
    expect(() => placeOf({}, planOf('local', '{root}/x'), '/w', 'h')).toThrow('K8SBENCH_ROOT');
    expect(placeOf({}, planOf('local', '{{root}}'), '/w', 'h').root).toBe('');
    expect(() => placeOf({ K8SBENCH_DELIVERY: 'mail' }, planOf('local'), '/w', 'h')).toThrow(
      'K8SBENCH_DELIVERY',
    );
  });
});

describe('the environment of measured processes', () => {
  test("has no word of the session's own, and the artifacts' programs first", () => {
    const root = mkdtempSync(join(tmpdir(), 'k8sbench-root-'));
    mkdirSync(join(root, 'bin'));
    const env = stepEnvironment(
      {
        PATH: '/usr/bin',
        GOMAXPROCS: '64',
        K8SBENCH_PLAN: '{}',
        K8SBENCH_ROOT: root,
        HOME: '/h',
        K8SBENCH_NAMESPACE: 'mine',
      },
      { root },
      'abc',
    );
    rmSync(root, { recursive: true });
    expect(env).toEqual({
      PATH: `${root}/bin:/usr/bin`,
      GOMAXPROCS: '64',
      HOME: '/h',
      K8SBENCH_NAMESPACE: 'mine',
      K8SBENCH_STEP: 'abc',
    });
  });

  test('without a bin/ the PATH stays', () => {
    expect(stepEnvironment({ PATH: '/x' }, { root: '' }, 'm')['PATH']).toBe('/x');
  });

  test('another Node than that of VERSIONS is refused in a pod only', () => {
    expect(() => refuseOtherRuntime({ delivery: 'image' }, 'v24.1.0', 'v24.1.0')).not.toThrow();
    expect(() => refuseOtherRuntime({ delivery: 'image' }, undefined, 'v20.0.0')).not.toThrow();
    expect(() => refuseOtherRuntime({ delivery: 'image' }, 'v24.1.0', 'v24.1.1')).toThrow("'v24.1.1'");
    expect(() => refuseOtherRuntime({ delivery: 'bundle' }, 'v24.1.0', '')).toThrow('has none');
    expect(() => refuseOtherRuntime({ delivery: 'local' }, 'v24.1.0', 'v20.0.0')).not.toThrow();
  });
});
