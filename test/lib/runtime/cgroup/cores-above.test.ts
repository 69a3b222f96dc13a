import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { coresLeft } from '../../../../lib/runtime/cgroup/cores-above.ts';

let mountPoint: string;
const NONE = Number.POSITIVE_INFINITY;

beforeEach(() => {
  mountPoint = mkdtempSync(join(tmpdir(), 'paddock-cgroup-'));
  mkdirSync(join(mountPoint, 'own'));
});
afterEach(() => rmSync(mountPoint, { recursive: true }));

const write = (files: Record<string, string>) => {
  for (const [file, text] of Object.entries(files)) writeFileSync(join(mountPoint, file), `${text}\n`);
};
const left = (version: 1 | 2, controllers: string[]) =>
  coresLeft([{ version, mountPoint, controllers }], new Map([[version === 2 ? '' : 'cpu', '/own']]));

it.each([
  ['100000', 1],
  ['-1', NONE],
])('v1: a quota of %s above sandboxes leaves %d cores', (quota, cores) => {
  write({ 'cpu.cfs_quota_us': quota, 'cpu.cfs_period_us': '100000' });
  expect(left(1, ['rw', 'cpu', 'cpuacct'])).toBe(cores);
});

it.each([
  ['50000 100000', 0.5],
  ['max 100000', NONE],
])('v2: a quota of %s above sandboxes leaves %d cores', (max, cores) => {
  write({ 'cpu.max': max });
  expect(left(2, ['cpu', 'memory'])).toBe(cores);
});

it('the quota of the server’s own cgroup does not count where sandboxes are not below it', () => {
  write({ 'own/cpu.max': '50000 100000' });
  expect(left(2, ['cpu'])).toBe(NONE);
});

it('a host without the controller or the files has no quota', () => {
  expect(left(2, [])).toBe(NONE);
  expect(left(1, ['cpu'])).toBe(NONE);
});
