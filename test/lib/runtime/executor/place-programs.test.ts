import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { placePrograms } from '../../../../lib/runtime/executor/programs.ts';

const disk = vi.hoisted(() => ({ isFull: false }));
vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>();
  const writeFileSync: typeof real.writeFileSync = (path, data, options) => {
    real.writeFileSync(path, disk.isFull ? '' : data, options);
    if (disk.isFull) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  };
  return { ...real, writeFileSync };
});

it('a program that could not be written is written whole for the next sandbox', () => {
  const base = mkdtempSync(join(tmpdir(), 'paddock-programs-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [first, second] = ['one', 'two'].map((name) => join(base, name));
  for (const dir of [first!, second!]) mkdirSync(dir);
  disk.isFull = true;
  expect(() => placePrograms(first!)).toThrow('ENOSPC');
  disk.isFull = false;
  placePrograms(second!);
  for (const program of ['bin/sudo', 'apt/apt-get', 'apt/apt', 'npm/npm']) {
    expect(readFileSync(join(second!, program), 'latin1')).toMatch(/^#!\/bin\/sh\n.+/);
    expect(statSync(join(second!, program)).mode & 0o777).toBe(0o555);
  }
});
