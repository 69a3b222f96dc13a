import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { portOwner } from '../../../clients/cli/src/local/port-owner.ts';
import { readLocal, startTimeOf, writeLocal } from '../../../clients/cli/src/local/record.ts';
import { ruleOptionsOf, rulesOf } from '../../../clients/cli/src/options/sandbox.ts';
import { connectionOf } from '../../../clients/cli/src/server/connection.ts';
import { directoryOfFile } from '../../directory.ts';

const home = directoryOfFile();
let config: string;
beforeAll(() => {
  mkdirSync(join(home, '.config/paddock'), { recursive: true });
  config = join(home, '.config/paddock/config.json');
  writeFileSync(config, '{"url": "http://c", "key": "of c"}', { mode: 0o600 });
});

const env = (more: Record<string, string> = {}) => ({ HOME: home, ...more });

it('never gives a key to another server than that which it is named with', () => {
  const other = { HOME: '/nonexistent' };
  expect(connectionOf(undefined, other)).toEqual({ url: 'http://127.0.0.1:8080', key: undefined, from: 'default' });
  expect(connectionOf(undefined, env())).toEqual({ url: 'http://c', key: 'of c', from: 'configuration' });
  const variables = env({ PADDOCK_URL: 'http://e/', PADDOCK_KEY: 'of e' });
  expect(connectionOf(undefined, variables)).toEqual({ url: 'http://e', key: 'of e', from: 'environment' });
  expect(connectionOf('http://o', variables)).toEqual({ url: 'http://o', key: undefined, from: 'option' });
  expect(connectionOf('http://c/', variables)).toEqual({ url: 'http://c', key: 'of c', from: 'option' });
  expect(connectionOf('http://e', variables).key).toBe('of e');
  expect(connectionOf(undefined, env({ PADDOCK_URL: 'http://x' })).key).toBeUndefined();
  expect(() => connectionOf('ftp://x', other)).toThrow(/must begin with http/);
});

it('refuses a configuration with a key that others can read, and one that is none', () => {
  chmodSync(config, 0o644);
  expect(() => connectionOf(undefined, env())).toThrow(/can be read by others/);
  chmodSync(config, 0o600);
  for (const text of ['{', '[]', 'null', '{"key": 1}']) {
    writeFileSync(config, text);
    expect(() => connectionOf(undefined, env()), text).toThrow(/config.json/);
  }
});

it('reads rules, and chooses a preset', () => {
  expect(rulesOf(['write:src/**', 'none:a:b', 'write:x'])).toEqual({ write: ['src/**', 'x'], none: ['a:b'] });
  for (const wrong of ['src', 'write:', 'all:x', ':x', 'WRITE:x']) expect(() => rulesOf([wrong])).toThrow(/a rule is/);
  expect(ruleOptionsOf({})).toEqual({ preset: 'development' });
  expect(ruleOptionsOf({ rule: ['read:a'] })).toEqual({ preset: 'agent-safe', rules: { read: ['a'] } });
  expect(ruleOptionsOf({ preset: 'none', rule: ['read:a'] })).toEqual({ preset: 'none', rules: { read: ['a'] } });
});

it('knows a local server by its process, not by its number, and only from a file that is private', () => {
  const record = { pid: process.pid, startedAt: startTimeOf(process.pid)!, url: 'http://x', key: 'k', settings: '' };
  writeLocal(home, record);
  expect(readLocal(home)).toEqual(record);
  chmodSync(join(home, 'server.json'), 0o644);
  expect(readLocal(home)).toBeUndefined();
  for (const each of [{ ...record, startedAt: '1' }, {}, { pid: 2 ** 22 + 1 }] as (typeof record)[]) {
    rmSync(join(home, 'server.json'), { force: true });
    writeLocal(home, each);
    expect(readLocal(home)).toBeUndefined();
  }
});

it('tells the user who listens on a port', async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  expect(portOwner(port)).toBe(process.getuid?.());
  await new Promise((done) => server.close(done));
  expect(portOwner(port)).toBeUndefined();
});
