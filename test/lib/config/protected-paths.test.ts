import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../lib/config/load.ts';
import { protectedPaths } from '../../../lib/config/protected-paths.ts';
import { placesOf } from '../../../lib/sandboxes/lifecycle/places.ts';
import { createRequest } from '../sandboxes/fixture.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'paddock-protected-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

function places(path: string) {
  const in_ = (name: string) => join(folder, name);
  writeFileSync(
    in_('server.yaml'),
    `storage: {codebase_path: ${in_('link/codebases')}, mount_path: ${in_('link/mounts')}, db_path: ${in_('link/db')}}
server: {tls: {certificate: ${in_('tls/c')}, key: ${in_('tls/k')}}}
secrets: {key_file: ${in_('keys/secrets')}}
runtime: {mountable_paths: [/]}`,
  );
  const environment = { argv: ['-config', in_('server.yaml')], env: {}, cwd: '/', root: true, home: '/root' };
  const loaded = loadConfig(environment);
  if (!('config' in loaded)) throw new Error('it has no configuration');
  const settings = { mountablePaths: ['/'], protectedPaths: protectedPaths(loaded.config) };
  const request = { ...createRequest(), read_only_paths: [in_(path)] };
  return () => placesOf(request, 'RUNTIME_BWRAP', settings);
}

describe('the state and the keys of the server', () => {
  beforeEach(() => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
  });

  it.each([
    ...['link/codebases', 'link/codebases/cb_1', 'real/codebases/cb_1', 'real', 'link', 'real/mounts', '.'],
    ...['real/db', 'real/db.answers', 'tls', 'tls/k', 'tls/c', 'keys', 'keys/secrets'],
  ])('are not shown by %s, by either name, above or below', (path) => {
    expect(places(path)).toThrow(/^read_only_paths\[0\] ".*" would show state or keys of the server/);
  });

  it('leave what is beside them to be shown', () => {
    expect(places('real/tools')()).toEqual({ read_only_paths: [join(folder, 'real/tools')] });
  });
});
