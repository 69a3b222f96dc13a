import { expect, it } from 'vitest';
import { compileRules } from '../../lib/permissions/index.ts';
import { refusedByRules } from '../../lib/workspaces/files/refused-by-rules.ts';
import { rule } from '../lib/workspaces/sandbox.ts';

it('a refused file operation of an agent is told the level of the path and what may be written', () => {
  const rules = [
    rule('/**', 'READ'),
    rule('docs/**', 'WRITE', 1),
    rule('keys/**', 'NONE', 1),
    rule('seen/**', 'VIEW', 1),
  ];
  const sentence = (path: string) => refusedByRules(path as never, compileRules(rules), rules);
  expect(sentence('src/a')).toBe('is read-only here; writable: docs/**');
  expect(sentence('keys/a')).toBe('is hidden by a rule of the level "none"; writable: docs/**');
  expect(sentence('seen/a')).toMatch(/^can be listed here and not opened: .* level "read"$/);
  expect(sentence('docs/a')).toMatch(/^cannot be accessed: its mode/);
});
