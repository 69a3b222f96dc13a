import { describe, expect, it } from 'vitest';
import { CleanupStack } from '../../lib/cleanup-stack.ts';

describe('the cleanup stack', () => {
  it('runs each cleanup once, in reverse order, including those added meanwhile and after a failure', async () => {
    const ended: string[] = [];
    const failed: unknown[] = [];
    const stack = new CleanupStack((name, error) => failed.push([name, error]));
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
