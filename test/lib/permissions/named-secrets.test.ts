import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import type { PermissionRules } from '../../../lib/contract/messages.ts';
import { compileRules, MERGED, NONE, READ, REDACTED, WRITE } from '../../../lib/permissions/index.ts';
import { rulesOf } from '../../../lib/sandboxes/permissions/rules.ts';

const EMPTY: PermissionRules = { write: [], read: [], none: [], scratch: [], view: [], redacted: [], shown: [] };
const levelAt = async (preset: string, rules: Partial<PermissionRules>, path: string) =>
  compileRules(await rulesOf({ preset, permissions: [], rules: { ...EMPTY, ...rules } })).decide(fromText(path));

describe('a rule added to a preset', () => {
  it.each([
    [{ write: ['.env'] }, '.env', WRITE],
    [{ write: ['**/.env*'] }, 'a/.env.local', WRITE],
    [{ write: ['secrets'] }, 'secrets/db/password', WRITE],
    [{ write: ['secrets/.env'] }, 'secrets/.env', WRITE],
    [{ write: ['certs/*.pem'] }, 'certs/a.pem', WRITE],
    [{ write: ['.git/config'] }, '.git/config', WRITE],
    [{ write: ['.git/hooks/pre-commit'] }, '.git/hooks/pre-commit', WRITE],
    [{ none: ['.env'] }, '.env', NONE],
    [{ shown: ['certs'] }, 'certs/deep/a.pem', WRITE],
  ])('decides where it names what the preset protects: %j', async (rules, path, level) => {
    expect(await levelAt('development', rules, path)).toBe(level);
  });

  it.each([
    [{ write: ['**'] }, '.env', MERGED],
    [{ write: ['config/**'] }, 'config/.env', MERGED],
    [{ read: ['certs'] }, 'certs/a.pem', REDACTED],
    [{ write: ['src/secrets'] }, 'src/secrets/.env', MERGED],
    [{ write: ['src/secrets'] }, 'src/secrets/tls.key', MERGED],
    [{ write: ['.git'] }, '.git/hooks/pre-commit', READ],
    [{ redacted: ['.env'] }, '.env', REDACTED],
    [{ write: ['.env'] }, 'a/.env', MERGED],
    [{ write: ['.git'] }, '.git/config', REDACTED],
  ])('shows no secret if it matches other paths, too: %j', async (rules, path, level) => {
    expect(await levelAt('development', rules, path)).toBe(level);
  });

  it.each(['development', 'agent-safe'])('shows no secret of %s if it may be a restriction', async (preset) => {
    const levels = ['.env', 'secrets/a'].map((path) => levelAt(preset, { read: ['.env', 'secrets'] }, path));
    expect(await Promise.all(levels)).toEqual([REDACTED, REDACTED]);
  });
});
