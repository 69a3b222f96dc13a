import type { Node } from './node.ts';

/** A node and all nodes below it, parents first. Nodes may be removed during the iteration. */
export function* nodesFrom(top: Node): Generator<Node> {
  const waiting = [top];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    for (const child of node.children?.values() ?? []) waiting.push(child);
  }
}
