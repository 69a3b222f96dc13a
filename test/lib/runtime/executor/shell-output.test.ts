import { expect, it } from 'vitest';
import { ShellOutput } from '../../../../lib/runtime/executor/shell-output.ts';

it('the own output of a session’s shell is limited in pieces, and not in bytes alone', () => {
  const output = new ShellOutput();
  for (let count = 0; count < 10_000; count++) {
    output.add({ kind: 'output', stream: count % 2 ? 'STDOUT' : 'STDERR', data: Buffer.from('x') });
  }
  expect(output.pieces().length).toBeLessThan(300);
  output.clear();
  output.add({ kind: 'output', stream: 'STDERR', data: Buffer.from('why') });
  expect(output.pieces()).toHaveLength(1);
});
