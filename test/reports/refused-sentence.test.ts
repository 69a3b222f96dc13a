import { expect, it } from 'vitest';
import { fromText } from '../../lib/byte-string.ts';
import { compileRules, PRESETS } from '../../lib/permissions/index.ts';
import { refusedByRules } from '../../lib/workspaces/files/refused-by-rules.ts';
import { rule, Sandbox } from '../lib/workspaces/sandbox.ts';

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

it('what the caller made writable is said before what a preset did', () => {
  const preset = PRESETS.find(({ name }) => name === 'agent-safe')!;
  const rules = [...preset.permissions, rule('docs/**', 'WRITE', 1), rule('src/**', 'WRITE', 1)];
  const sentence = refusedByRules('a' as never, compileRules(rules), rules);
  expect(sentence).toMatch(/^is read-only here; writable: docs\/\*\*, src\/\*\*, \/output, …$/);
});

it('a refused move names the path that the rules refuse', () => {
  const s = new Sandbox({ 'docs/a': 'a', 'src/b': 'b' }, { rules: [rule('/**', 'READ'), rule('src/**', 'WRITE', 1)] });
  const move = (from: string, to: string) => () =>
    s.fs.files('sb_1', 'agent', 'move', [fromText(from), fromText(to), true]);
  const refusal = 'is read-only here; writable: src/**';
  expect(move('src/b', 'docs/b')).toThrow(`"docs/b" ${refusal}`);
  expect(move('src/b', 'docs/a')).toThrow(`"docs/a" ${refusal}`);
  expect(move('docs/a', 'src/a')).toThrow(`"docs/a" ${refusal}`);
});
