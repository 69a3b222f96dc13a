import { chmod, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NoKeyError, SecretKey } from '../../../../lib/network/secrets/secret-key.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paddock-secrets-'));
  file = join(folder, 'key');
});
afterEach(() => rm(folder, { recursive: true }));

const key = (command: string[] = []) => new SecretKey({ file, command });
const hex = async (from: SecretKey, make = false) => (await from.get(make)).export().toString('hex');

it('makes the file once, for concurrent callers too, readable by its owner only', async () => {
  const one = key();
  const [a, b, c] = await Promise.all([hex(one, true), hex(one), hex(one, true)]);
  expect([b, c]).toEqual([a, a]);
  expect(await hex(key())).toBe(a);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['key']);
});

it('makes no file unless asked to, and can be asked again', async () => {
  const one = key();
  await expect(one.get(false)).rejects.toThrow(/key does not exist/);
  expect(await readdir(folder)).toEqual([]);
  await one.get(true);
});

it('refuses a file that others can use, of another size, or that is a link', async () => {
  await writeFile(file, Buffer.alloc(32), { mode: 0o640 });
  await chmod(file, 0o640);
  await expect(key().get(true)).rejects.toThrow(/must have mode 0600/);
  await chmod(file, 0o600);
  await key().get(false);
  await writeFile(file, Buffer.alloc(31));
  await expect(key().get(true)).rejects.toThrow(/must have 32 bytes/);
  await rm(file);
  await writeFile(join(folder, 'other'), Buffer.alloc(32), { mode: 0o600 });
  await symlink('other', file);
  await expect(key().get(true)).rejects.toThrow(/cannot be read: ELOOP/);
});

it('takes the key from a program, in three forms, and shows nothing of its output', async () => {
  const print = (text: string) => ['/bin/sh', '-c', `printf '${text}'; echo secret-message >&2`];
  const wanted = Buffer.alloc(32, 'k');
  expect(await hex(key(print('k'.repeat(32))))).toBe(wanted.toString('hex'));
  expect(await hex(key(print(`${wanted.toString('hex')}\\n`)))).toBe(wanted.toString('hex'));
  expect(await hex(key(print(`${wanted.toString('base64')}\\n`)))).toBe(wanted.toString('hex'));
  for (const command of [print('secret-output'), ['/bin/sh', '-c', 'echo secret-x >&2; exit 3'], ['/nonexistent']]) {
    const error = await key(command)
      .get(true)
      .catch((each: Error) => each);
    expect(error).toBeInstanceOf(NoKeyError);
    expect(String(error)).toMatch(/secrets.key_command: \/\S+ (must print|failed)/);
    expect(String(error)).not.toContain('secret-');
  }
});
