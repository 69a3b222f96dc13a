import { describe, expect, it } from 'vitest';
import { findPreset, PRESETS } from '../../../lib/permissions/index.ts';
import { decided, file } from './rules.ts';

const SECRETS = [
  '.env',
  'a/.env.production',
  'key.pem',
  'a/b/id_ed25519',
  '.ssh/config',
  '.npmrc',
  '.git/config',
  'config/credentials.json',
  'secrets/db/pw',
  'a/secrets',
  '.aws/x/y',
  '.git/modules/sub/config',
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
    ['agent-safe', 'output/.env', 'NONE'],
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

  it.each(['agent-safe', 'development'])('%s hides every kind of secret', (name) => {
    const rules = [...(findPreset(name)?.permissions ?? [])];
    expect(SECRETS.filter((path) => decided(rules, path) !== 'NONE')).toEqual([]);
  });

  it('shows a secret only for an added rule with a priority above its own', () => {
    const rules = findPreset('agent-safe')?.permissions ?? [];
    expect(decided([...rules, file('.env', 'READ', 10)], '.env')).toBe('NONE');
    expect(decided([...rules, file('.env', 'READ', 2000)], '.env')).toBe('READ');
  });

  it('is found by name only', () => {
    expect(PRESETS.map(({ name }) => name)).toEqual(['read-only', 'full-access', 'agent-safe', 'development']);
    expect(findPreset('constructor')).toBeUndefined();
  });
});
