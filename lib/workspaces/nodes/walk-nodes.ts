import type { Node } from './node.ts';

/**
 * A node and all nodes below it, parents first. Nodes may be removed during the iteration. The children of a directory,
 * which may be a million, are taken one by one.
 */
export function* nodesFrom<N extends Node>(top: N): Generator<N> {
  yield top;
  const ways = [childrenOf(top)];
  for (let way = ways.at(-1); way !== undefined; way = ways.at(-1)) {
    const { done, value: node } = way.next();
    if (done) {
      ways.pop();
      continue;
    }
    yield node;
    if (node.children !== undefined) ways.push(childrenOf(node));
  }
}

function childrenOf<N extends Node>({ children }: N): Iterator<N, undefined> {
  return (children ?? new Map<never, N>()).values();
}
