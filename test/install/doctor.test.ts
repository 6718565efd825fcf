/** The doctor on a real machine; it watches the cores for a second each time. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../../tools/k8sbench/doctor/finding.ts';
import { main } from '../../tools/k8sbench/main.ts';
import { runTool } from '../outside.ts';

describe('the machine at hand', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'k8sbench-doctor-test-'));
  afterAll(() => rmSync(temporary, { recursive: true, force: true }));
  const env = { PATH: process.env['PATH'], TMPDIR: temporary };

  test('is examined, in JSON, and nothing is left behind', async () => {
    const { exit, stdout, stderr } = await runTool(main, ['doctor', '--json'], { env });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const { findings, ...rest } = JSON.parse(stdout) as { findings: Finding[] };
    expect(rest).toMatchObject({ format: 'doctor/1', host: 'here', canRun: true });
    expect(findings.find((one) => one.name === 'fsync')?.values?.['fsync_p50_s']).toBeGreaterThan(0);
    expect(findings.length).toBeGreaterThan(20);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test('where no session can run, everything goes to stderr', async () => {
    const { exit, stdout, stderr } = await runTool(main, ['doctor'], {
      env: { PATH: '', TMPDIR: join(temporary, 'missing') },
    });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toContain("'mkfifo', 'cat', 'sync' not on the PATH");
    expect(stderr).toContain('no local session can run here: 2 of');
  });
});
