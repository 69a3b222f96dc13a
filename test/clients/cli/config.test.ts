import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { extensions, findProject, projectSettings, restrictions } from '../../../clients/cli/src/settings/project.ts';
import { serverSettings, withOwn } from '../../../clients/cli/src/settings/server-settings.ts';
import { isTrusted, trust } from '../../../clients/cli/src/settings/trust.ts';
import { withProject } from '../../../clients/cli/src/settings/with-project.ts';
import { emptyDirectory, put as putIn } from '../../directory.ts';

const isRoot = process.geteuid?.() === 0;

const home = emptyDirectory();
const env = () => ({ HOME: home });

const put = (path: string, text: string) => putIn(home, path, text);

describe('the settings of the local server', () => {
  it('are its own, and over them those of the user, key by key', () => {
    put('.config/paddock/server.yaml', 'sandbox: {max_per_user: 5}\nnetwork: {allow_max: [public, 10.0.0.5]}');
    const own = { sandbox: { max_per_user: 100, cleanup_interval: '1m' }, auth: { mode: 'keys' } };
    expect(withOwn(own, serverSettings(env())!.values)).toEqual({
      sandbox: { max_per_user: 5, cleanup_interval: '1m' },
      auth: { mode: 'keys' },
      network: { allow_max: ['public', '10.0.0.5'] },
    });
  });

  it('cannot take away its key or its addresses', () => {
    for (const [text, key] of [
      ['auth: {mode: off}', 'auth'],
      ['server: {http_addr: ":8080"}', 'server.http_addr'],
    ]) {
      put('.config/paddock/server.yaml', text!);
      expect(() => serverSettings(env())).toThrow(`server.yaml: ${key} is set by the local server itself`);
    }
  });

  it('hold where the user has sections without a value', () => {
    put('.config/paddock/server.yaml', 'server:\n# http_addr\nstorage:\nauth:\nsandbox: {max_per_user:}\n');
    const own = { server: { http_addr: '127.0.0.1:0' }, auth: { mode: 'keys' }, sandbox: { max_per_user: 100 } };
    expect(withOwn(own, serverSettings(env())!.values)).toEqual(own);
  });

  it.each(['server', 'auth', 'storage'])('are refused with a %s that is no map', (name) => {
    for (const value of ['[]', 'x', '0']) {
      put('.config/paddock/server.yaml', `${name}: ${value}`);
      expect(() => serverSettings(env())).toThrow(`server.yaml: ${name} must be a map of settings`);
    }
  });

  it('are refused in a file that somebody else can change, since it names programs', () => {
    const path = put('.config/paddock/server.yaml', 'runtime: {bwrap_path: /tmp/x}');
    for (const mode of [0o620, 0o602]) {
      chmodSync(path, mode);
      expect(() => serverSettings(env())).toThrow(/server\.yaml can be changed by others: run chmod go-w/);
    }
    chmodSync(path, 0o644);
    expect(serverSettings(env())).toBeDefined();
  });

  it.runIf(isRoot)('are refused in a file of another user', () => {
    chownSync(put('.config/paddock/server.yaml', 'sandbox: {}'), 1234, 0);
    expect(() => serverSettings(env())).toThrow(/server\.yaml belongs to user 1234/);
  });

  it.each(['a: [', '- a', '&a [*a]'])('are refused with the name of the file: %s', (text) => {
    put('.config/paddock/server.yaml', text);
    expect(() => serverSettings(env())).toThrow(/server\.yaml /);
  });
});

describe('the file of a project', () => {
  const ALL = `preset: agent-safe
rules: [write:src/**, none:private/**]
network: {allow: [registry.npmjs.org], presets: [npm]}
limits: {memory: 1g}
tools: auto
secrets: [github=GITHUB_TOKEN@api.github.com]`;

  it('is found in the directory or above, and has the options of a sandbox', () => {
    const path = put('p/.paddock.yaml', ALL);
    mkdirSync(join(home, 'p/a/b'), { recursive: true });
    const file = findProject(join(home, 'p/a/b'))!;
    expect(file.path).toBe(path);
    expect(projectSettings(file)).toEqual({
      preset: 'agent-safe',
      rule: ['write:src/**', 'none:private/**'],
      allow: ['registry.npmjs.org'],
      'allow-preset': ['npm'],
      memory: '1g',
      tools: ['auto'],
      secret: ['github=GITHUB_TOKEN@api.github.com'],
    });
  });

  it('may hide without a yes, and nothing else', () => {
    const settings = { rule: ['none:a', 'read:.env'], network: 'open' };
    expect(restrictions(settings)).toEqual({ rule: ['none:a'] });
    expect(extensions(settings)).toEqual(['--rule read:.env', '--network open']);
  });

  const context = () => ({ env: env(), out: { note: () => undefined }, signal: new AbortController().signal }) as never;

  it('is used for what it hides, with the preset that there is without rules', async () => {
    put('p/.paddock.yaml', 'rules: [none:private/**]');
    expect(await withProject(context(), {}, join(home, 'p'))).toEqual({
      preset: 'development',
      rule: ['none:private/**'],
    });
  });

  it('that asks for more is refused until exactly its text was said yes to', async () => {
    const path = put('p/.paddock.yaml', 'network: {allow: [evil.example]}');
    const use = () => withProject(context(), { allow: ['mine.example'] }, join(home, 'p'));
    await expect(use()).rejects.toThrow(/asks for .*--allow evil\.example.*paddock config trust/);
    trust(findProject(join(home, 'p'))!, env());
    expect(await use()).toEqual({ allow: ['evil.example', 'mine.example'], preset: 'development' });
    writeFileSync(path, 'network: {allow: [worse.example]}');
    await expect(use()).rejects.toThrow(/worse\.example/);
    expect(isTrusted(findProject(join(home, 'p'))!, env())).toBe(false);
    expect(readFileSync(join(home, '.config/paddock/trusted-projects.json'), 'utf8')).toContain(path);
  });

  it('comes after what the command line says', async () => {
    put('p/.paddock.yaml', 'preset: full-access\nlimits: {memory: 1g}');
    trust(findProject(join(home, 'p'))!, env());
    expect(await withProject(context(), { memory: '2g' }, join(home, 'p'))).toEqual({
      preset: 'full-access',
      memory: '2g',
    });
  });

  it('with an unknown key, or a value of another type, is refused by file and key', () => {
    const settings = (text: string) => {
      put('p/.paddock.yaml', text);
      return () => projectSettings(findProject(join(home, 'p'))!);
    };
    expect(settings('presett: x')).toThrow(/\.paddock\.yaml: presett: unknown key; known are preset, rules, /);
    expect(settings('rules: {a: 1}')).toThrow(/\.paddock\.yaml: rules must be a list of texts/);
  });

  it.each(['/dev/zero', '/dev/tty', '/etc/passwd', 'nothing'])('that is a link to %s is refused unread', (target) => {
    mkdirSync(join(home, 'p'));
    symlinkSync(target, join(home, 'p/.paddock.yaml'));
    expect(() => findProject(join(home, 'p'))).toThrow(/\.paddock\.yaml is a symbolic link$/);
  });

  it('that is a FIFO is refused, and nothing waits for its writer', () => {
    mkdirSync(join(home, 'p'));
    execFileSync('mkfifo', [join(home, 'p/.paddock.yaml')]);
    expect(() => findProject(join(home, 'p'))).toThrow(/\.paddock\.yaml is no regular file$/);
  });

  it('that is too large is refused', () => {
    put('p/.paddock.yaml', '#'.repeat(256 * 1024 + 1));
    expect(() => findProject(join(home, 'p'))).toThrow(/\.paddock\.yaml is larger than 256 KiB$/);
  });

  it.runIf(isRoot)('is of the caller, root or the owner of the directory', () => {
    const path = put('p/.paddock.yaml', 'preset: none');
    chownSync(path, 1234, 0);
    expect(() => findProject(join(home, 'p'))).toThrow(/\.paddock\.yaml belongs to user 1234/);
    chownSync(join(home, 'p'), 1234, 0);
    expect(findProject(join(home, 'p'))).toBeDefined();
  });
});
