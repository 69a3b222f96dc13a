import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { extensions, findProject, projectSettings, restrictions } from '../../../clients/cli/src/settings/project.ts';
import { merged, serverSettings } from '../../../clients/cli/src/settings/server-settings.ts';
import { isTrusted, trust } from '../../../clients/cli/src/settings/trust.ts';
import { withProject } from '../../../clients/cli/src/settings/with-project.ts';

let home: string;
const env = () => ({ HOME: home });
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'paddock-config-')));
});
afterEach(() => rmSync(home, { recursive: true }));

function put(path: string, text: string): string {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
  return join(home, path);
}

describe('the settings of the local server', () => {
  it('are its own, and over them those of the user, key by key', () => {
    put('.config/paddock/server.yaml', 'sandbox: {max_per_user: 5}\nnetwork: {allow_max: [public, 10.0.0.5]}');
    const own = { sandbox: { max_per_user: 100, cleanup_interval: '1m' }, auth: { mode: 'keys' } };
    expect(merged(own, serverSettings(env())!.values)).toEqual({
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
    await expect(use()).rejects.toThrow(/asks for .*--allow evil\.example.*paddock config --trust/);
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
});
