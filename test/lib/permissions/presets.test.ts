import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import {
  compileRules,
  findPreset,
  MERGED,
  NONE,
  PRESETS,
  READ,
  REDACTED,
  VIEW,
  WRITE,
} from '../../../lib/permissions/index.ts';
import { decided, glob } from './rules.ts';

const SECRETS = [
  '.env',
  'a/.env.production',
  'key.pem',
  'a/b/id_ed25519',
  '.ssh/config',
  '.npmrc',
  'config/credentials.json',
  'secrets/db/pw',
  'a/secrets',
  '.aws/x/y',
  '.dev.vars',
  'deploy/prod.env',
  '.envs/production/django',
  '.yarnrc.yml',
  'auth.json',
  'AuthKey.p8',
];

describe('a preset', () => {
  it.each([
    ['read-only', 'src/a.ts', 'READ'],
    ['read-only', '', 'READ'],
    ['full-access', '.git/hooks/pre-commit', 'WRITE'],
    ['agent-safe', 'src/a.ts', 'READ'],
    ['agent-safe', 'output/a', 'WRITE'],
    ['agent-safe', 'tmp/a', 'WRITE'],
    ['agent-safe', 'src/tmp/a', 'READ'],
    ['agent-safe', 'output/.env', 'READ'],
    ['agent-safe', 'src/environment.ts', 'READ'],
    ['agent-safe', '.git/HEAD', 'READ'],
    ['agent-safe', '.git/refs/heads/config', 'READ'],
    ['development', 'src/a.ts', 'WRITE'],
    ['development', '.git/HEAD', 'WRITE'],
    ['development', '.git/hooks/pre-commit', 'READ'],
    ['development', '.git/hooks', 'READ'],
  ])('%s grants %j the level %s', (name, path, expected) => {
    expect(decided([...(findPreset(name)?.permissions ?? [])], path)).toBe(expected);
  });

  it.each([
    ['agent-safe', REDACTED],
    ['development', MERGED],
  ])('%s puts placeholders in every kind of secret', (name, level) => {
    const rules = compileRules(findPreset(name)!.permissions);
    expect(SECRETS.filter((path) => rules.decide(fromText(path)) !== level)).toEqual([]);
  });

  it.each([
    ['agent-safe', READ],
    ['development', WRITE],
  ])('%s shows keys of tests, and keys and settings of installed packages, as they are', (name, level) => {
    const rules = compileRules(findPreset(name)!.permissions);
    const scratch = [
      'node_modules/a/test/key.pem',
      'node_modules/a/.npmrc',
      '.venv/lib/python3.11/site-packages/pip/_vendor/certifi/cacert.pem',
    ];
    expect(scratch.filter((path) => rules.decide(fromText(path)) !== WRITE)).toEqual([]);
    const plain = [
      'usr/lib/python3/dist-packages/a/server.key',
      'tests/certs/valid/server.key',
      'test/fixtures/id_rsa',
    ];
    expect(plain.filter((path) => rules.decide(fromText(path)) !== level)).toEqual([]);
  });

  it.each(['agent-safe', 'development'])(
    '%s hides nothing but tokens in sources, examples and data of tests',
    (name) => {
      const rules = compileRules(findPreset(name)!.permissions);
      const paths = [
        'lib/network/secrets/bindings.ts',
        '.docker/Dockerfile',
        'vendor/a/secrets/a.go',
        'node_modules/a/secrets/package.json',
        '.env.example',
        'example.env',
        'tests/.env.example',
        'tests/fixtures/service-account.json',
      ];
      expect(paths.filter((path) => rules.state(fromText(path)).redactor !== 'tokens')).toEqual([]);
    },
  );

  it.each(['agent-safe', 'development'])(
    '%s looks for every secret in files that an ancestor says little of',
    (name) => {
      const rules = compileRules(findPreset(name)!.permissions);
      const paths = [
        'apps/vendor/.env',
        'node_modules/a/.env',
        'third_party/x/secrets/prod.json',
        'deploy/testing/tls.key',
        'testing/.ssh/id_ed25519',
        'e2e/.env',
        'secrets/dump.sql',
        '.ssh/notes.md',
        '.aws/login.js',
      ];
      expect(paths.filter((path) => rules.state(fromText(path)).redactor !== '')).toEqual([]);
    },
  );

  it.each(['agent-safe', 'development'])('%s shows settings of tests that are no secrets by name and form', (name) => {
    const rules = compileRules(findPreset(name)!.permissions);
    expect(rules.state(fromText('tests/app/.env')).redactor).toBe('ini');
    expect(rules.state(fromText('e2e/.env')).redactor).toBe('');
  });

  it.each(['agent-safe', 'development'])('%s shows the configuration of git with placeholders only', (name) => {
    const rules = compileRules(findPreset(name)!.permissions);
    const levelAt = (path: string) => rules.state(fromText(path)).level;
    const git = ['config', 'config.lock', 'config.worktree', 'worktrees/w/config.worktree', 'modules/sub/config'];
    for (const path of git) expect(levelAt(`a/.git/${path}`)).toBe(REDACTED);
    expect(levelAt('.git/modules/sub/HEAD')).toBeGreaterThan(REDACTED);
  });

  it.each(['agent-safe', 'development'])('%s keeps what says where the configuration of git is', (name) => {
    const rules = compileRules([...findPreset(name)!.permissions, glob('/**', 'WRITE')]);
    const places = ['.git/commondir', '.git/gitdir', '.git/worktrees/w/gitdir', '.git/modules/a/b/commondir', '.git'];
    expect(places.filter((path) => rules.decide(fromText(`sub/${path}`)) !== READ)).toEqual([]);
    expect(rules.decide(fromText('sub/.git/HEAD'))).toBe(WRITE);
  });

  const contents = (pattern: string, what: string): PermissionRule => ({ ...glob(pattern, 'NONE'), contents: what });
  it.each([
    ['redacted', { ...contents('/**', 'redacted'), redactor: 'tokens' }, REDACTED, REDACTED],
    ['shown', contents('/**', 'shown'), READ, READ],
    ['shown below .git', contents('.git/**', 'shown'), READ, READ],
    ['shown hooks', contents('.git/hooks/**', 'shown'), WRITE, REDACTED],
  ])('keeps hooks and the configuration of git unless a rule is about these: %s', (_, own, hook, config) => {
    const rules = compileRules([...findPreset('development')!.permissions, own]);
    const levels = ['.git/hooks/pre-commit', '.git/config'].map((path) => rules.decide(fromText(path)));
    expect(levels).toEqual([hook, config]);
  });

  it.each(['agent-safe', 'development'])('%s makes what tools write beside the sources scratch', (name) => {
    const rules = compileRules(findPreset(name)!.permissions);
    const isScratch = (path: string) => rules.state(fromText(path)).scratch;
    const written = [
      '.git/index',
      '.git/index.lock',
      'sub/.git/logs/HEAD',
      'node_modules/.cache/x/y',
      'node_modules',
      'packages/a/node_modules/express/index.js',
      '.venv/bin/python',
      'sub/venv/lib/python3.11/site-packages/flask/app.py',
      'venv/lib64',
      'venv/pyvenv.cfg',
      'vitest.config.ts.timestamp-1700000000000-abc.mjs',
      'pkg/node_modules/.vite/vitest/results.json',
      'src/__pycache__/a.pyc',
      '.pytest_cache/v/x',
      'tsconfig.tsbuildinfo',
      'dist/index.js',
      'coverage/lcov.info',
    ];
    expect(written.filter((path) => !isScratch(path))).toEqual([]);
    expect(
      ['.git/HEAD', 'src/a.ts', 'vitest.config.ts', 'dist/.env', 'build/x', 'venv/__init__.py'].filter(isScratch),
    ).toEqual([]);
    expect(['sub/.git/logs/refs/heads/dist', 'dist/.git/HEAD'].filter((path) => !isScratch(path))).toEqual([]);
  });

  it('does not take what git names after a branch, a tag or a submodule for a cache or a build output', () => {
    const named = [
      '.git/refs/heads/dist',
      'sub/.git/refs/tags/coverage',
      '.git/refs/remotes/origin/dist/v1',
      '.git/modules/vendor/dist/HEAD',
      '.git/worktrees/htmlcov/HEAD',
    ];
    const at = (preset: string) => {
      const rules = compileRules(findPreset(preset)!.permissions);
      return named.map((path) => rules.state(fromText(path))).map(({ level, scratch }) => ({ level, scratch }));
    };
    expect(at('development')).toEqual(named.map(() => ({ level: WRITE, scratch: false })));
    expect(at('agent-safe')).toEqual(named.map(() => ({ level: READ, scratch: false })));
  });

  it('yields to the rules that are added', () => {
    const rules = compileRules([
      ...findPreset('agent-safe')!.permissions,
      glob('vendor/**', 'READ'),
      glob('**/dist/**', 'READ'),
    ]);
    expect(['vendor/__pycache__/a', 'dist/a'].map((path) => rules.decide(fromText(path)))).toEqual([READ, READ]);
    expect(decided([...findPreset('agent-safe')!.permissions, glob('**/*.md', 'WRITE')], 'a.md')).toBe('WRITE');
  });

  it('keeps what a caller hides, or makes read-only, as strict as it is', () => {
    const at = (own: PermissionRule, path: string) =>
      compileRules([...findPreset('development')!.permissions, own]).decide(fromText(path));
    for (const path of ['.env', '.git/config', '.git/hooks/a'])
      expect(at(glob('private/**', 'NONE'), `private/${path}`)).toBe(NONE);
    const rules = compileRules([...findPreset('development')!.permissions, glob('private/**', 'NONE')]);
    expect(rules.state(fromText('private')).visibleBelow).toBe(false);
    expect(at(glob('private/**', 'VIEW'), 'private/.env')).toBe(VIEW);
    expect(at(glob('config/**', 'READ'), 'config/.env')).toBe(REDACTED);
    expect(at(glob('config/**', 'WRITE'), 'config/.env')).toBe(MERGED);
  });

  it('is found by name only', () => {
    expect(PRESETS.map(({ name }) => name)).toEqual(['read-only', 'full-access', 'agent-safe', 'development']);
    expect(findPreset('constructor')).toBeUndefined();
  });
});
