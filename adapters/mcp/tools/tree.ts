import type { FileStat } from '../../../lib/contract/messages.ts';
import { isDirectory } from './listing.ts';

interface Node {
  name: string;
  type: 'file' | 'directory';
  children?: Node[];
}

/** The tree of files whose paths are relative to its root. A file below one that is left out is left out, too. */
export function treeOf(files: readonly { path: string; file: FileStat }[]): Node[] {
  const root: Node[] = [];
  const children = new Map([['', root]]);
  const depth = ({ path }: { path: string }) => path.split('/').length;
  for (const { path, file } of files.toSorted((a, b) => depth(a) - depth(b))) {
    const slash = path.lastIndexOf('/');
    const node: Node = { name: path.slice(slash + 1), type: isDirectory(file) ? 'directory' : 'file' };
    if (isDirectory(file)) {
      node.children = [];
      children.set(path, node.children);
    }
    children.get(path.slice(0, Math.max(0, slash)))?.push(node);
  }
  return root;
}
