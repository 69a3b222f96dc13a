import { describe, expect, it } from 'vitest';
import { UndoStack } from '../../lib/undo-stack.ts';

describe('the undo stack', () => {
  it('ends what was begun in reverse order, once, also what was begun meanwhile and after a failure', async () => {
    const ended: string[] = [];
    const failed: unknown[] = [];
    const stack = new UndoStack((name, error) => failed.push([name, error]));
    stack.add('a', () => ended.push('a'));
    stack.add('b', async () => {
      ended.push('b');
      stack.add('late', () => ended.push('late'));
      throw 'broken';
    });
    stack.add('c', () => ended.push('c'));
    await stack.unwind();
    await stack.unwind();
    expect(ended).toEqual(['c', 'b', 'late', 'a']);
    expect(failed).toEqual([['b', 'broken']]);
  });
});
