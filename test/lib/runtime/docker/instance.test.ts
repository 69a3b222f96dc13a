import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { instanceId } from '../../../../lib/runtime/docker/instance.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-instance-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('the name of an instance on a Docker daemon', () => {
  it('is created once and kept with the state', async () => {
    const id = instanceId(join(directory, 'new', 'state'));
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(instanceId(join(directory, 'new', 'state'))).toBe(id);
    expect(await readdir(join(directory, 'new', 'state'))).toEqual(['docker-instance']);
    expect((await stat(join(directory, 'new', 'state', 'docker-instance'))).mode & 0o777).toBe(0o600);
  });

  it('differs for another state', () => {
    expect(instanceId(join(directory, 'a'))).not.toBe(instanceId(join(directory, 'b')));
  });

  it.each(['', 'short', '0123456789ABCDEF'])('is refused if it is damaged (%j), not replaced', async (content) => {
    await writeFile(join(directory, 'docker-instance'), content);
    expect(() => instanceId(directory)).toThrow(/docker-instance is damaged/);
  });
});
