import { describe, expect, it } from 'vitest';
import { S_IFREG } from '../../../lib/linux/mode.ts';
import type { BaseStat } from '../../../lib/workspaces/base/base.ts';
import { InodeNumbers } from '../../../lib/workspaces/nodes/inode-numbers.ts';
import { LayeredNode } from '../../../lib/workspaces/nodes/layered-node.ts';

let ids = 2;

function nodeOn(ino: number): LayeredNode {
  const node = new LayeredNode(ids++, undefined, S_IFREG);
  node.nlookup = 1;
  node.base = { ino } as BaseStat;
  return node;
}

function numbersWith(kept: readonly number[] = []): InodeNumbers {
  return new InodeNumbers(() => ({ keepsIno: (ino) => kept.includes(ino) }));
}

/** As a node that shows another base file from then on. */
function rebase(numbers: InodeNumbers, node: LayeredNode, ino: number): void {
  numbers.keep(node);
  node.base = { ino } as BaseStat;
  numbers.settle(node);
}

describe('the inode number of a node', () => {
  it('stays when the node shows another file', () => {
    const numbers = numbersWith();
    const node = nodeOn(7);
    rebase(numbers, node, 8);
    rebase(numbers, node, 9);
    expect(numbers.of(node)).toBe(7);
  });

  it('is not that of another file which the host gave the number of a replaced one', () => {
    const numbers = numbersWith();
    rebase(numbers, nodeOn(7), 8);
    expect(numbers.of(nodeOn(7))).not.toBe(7);
  });

  it('is not that of another file, however often the host has reused the number', () => {
    const numbers = numbersWith();
    const shown: number[] = [];
    for (let n = 0; n < 5; n++) {
      const node = nodeOn(7);
      shown.push(numbers.of(node));
      rebase(numbers, node, 100 + n);
      expect(numbers.of(node)).toBe(shown[n]);
    }
    expect(new Set(shown).size).toBe(5);
  });

  it('is that of its file again when the node with the number is freed', () => {
    const numbers = numbersWith();
    const node = nodeOn(7);
    rebase(numbers, node, 8);
    numbers.release(node);
    expect(numbers.of(nodeOn(7))).toBe(7);
  });

  it('stays another one if it was taken when the node was first shown', () => {
    const kept = [7];
    const numbers = numbersWith(kept);
    const node = nodeOn(7);
    const shown = numbers.of(node);
    kept.pop();
    expect([numbers.of(node), shown === 7]).toEqual([shown, false]);
  });

  it('is not kept for a node that the kernel does not know', () => {
    const numbers = numbersWith();
    const node = nodeOn(7);
    node.nlookup = 0;
    rebase(numbers, node, 8);
    expect(numbers.of(node)).toBe(8);
  });
});
