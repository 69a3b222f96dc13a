import { expect, it } from 'vitest';
import { endFields, noteOf } from '../../../adapters/mcp/tools/exec.ts';

const END = { reason: 'exited', exit_code: 0, signal: 0, duration_ms: 1 };
const denied = { hosts: [{ host: 'pypi.org', port: 0, code: 'not_allowed', reason: 'No rule.', address: '' }] };

it('the end of a command has the hosts that its policy refused', () => {
  expect(noteOf('p', END, 'a\n')).toBe('');
  expect(noteOf('p', { ...END, denied }, 'a')).toBe(
    '\n[exit code 0; refused by the network policy: pypi.org (not_allowed)]',
  );
  const late = { ...END, reason: 'timeout', exit_code: 137, denied };
  expect(noteOf('p', late, '')).toBe('[timeout, exit code 137; refused by the network policy: pypi.org (not_allowed)]');
  expect(endFields(END)).not.toHaveProperty('denied_hosts');
  expect(endFields({ ...END, denied })).toMatchObject({ denied_hosts: ['pypi.org (not_allowed)'] });
});
