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
    [{ read: ['.env'] }, '.env', READ],
    [{ write: ['**/.env*'] }, 'a/.env.local', WRITE],
    [{ read: ['secrets'] }, 'secrets/db/password', READ],
    [{ read: ['certs/*.pem'] }, 'certs/a.pem', READ],
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
    [{ write: ['.git'] }, '.git/hooks/pre-commit', READ],
    [{ redacted: ['.env'] }, '.env', REDACTED],
    [{ read: ['.env'] }, 'a/.env', MERGED],
  ])('shows no secret if it matches other paths, too: %j', async (rules, path, level) => {
    expect(await levelAt('development', rules, path)).toBe(level);
  });
});
