import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from '../../../lib/metadata/lock.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-lock-'));
  path = join(folder, 'lock');
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('takeLock', () => {
  it('refuses a second holder with one line that names the lock', () => {
    const release = takeLock(path);
    expect(() => takeLock(path)).toThrow(`another server runs on this state: ${path} is locked`);
    release();
  });

  it('can be called again after the lock is released', () => {
    takeLock(path)();
    takeLock(path)();
  });

  it('creates a file that only its owner can access, and does not follow a symlink', () => {
    takeLock(path)();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const link = join(folder, 'link');
    symlinkSync(path, link);
    expect(() => takeLock(link)).toThrow(/cannot be opened: ELOOP/);
  });

  it('takes a lock that a child process does not keep after the release', async () => {
    const release = takeLock(path);
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    await once(child, 'spawn');
    release();
    takeLock(path)();
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});
