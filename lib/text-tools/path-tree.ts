export interface ListedPath {
  /** Relative to the directory that is listed. */
  path: string;
  isDirectory: boolean;
}

interface Node {
  name: string;
  type: 'file' | 'directory';
  children?: Node[];
}

/** Characters of JSON for each level of a tree: that of a node, and that of its list. */
const INDENTS = 4;
const LINES = 4;
const NODE = 64;

/**
 * The tree of files as JSON of at most about `maxChars`; the upper ones first. A file below one that is left out is left
 * out, too.
 */
export function treeOf(files: readonly ListedPath[], maxChars: number): { json: string; more: boolean } {
  const root: Node[] = [];
  const children = new Map([['', root]]);
  let room = maxChars;
  let more = false;
  for (const { path, isDirectory, depth, name } of upperFirst(files)) {
    room -= LINES * INDENTS * depth + NODE + 2 * name.length;
    more ||= room < 0;
    if (more) break;
    const node: Node = { name, type: isDirectory ? 'directory' : 'file' };
    if (isDirectory) {
      node.children = [];
      children.set(path, node.children);
    }
    children.get(path.slice(0, Math.max(0, path.length - name.length - 1)))?.push(node);
  }
  return { json: JSON.stringify(root, null, 2), more };
}

function upperFirst(files: readonly ListedPath[]) {
  return files
    .map((file) => ({ ...file, name: file.path.slice(file.path.lastIndexOf('/') + 1), depth: depthOf(file.path) }))
    .sort((a, b) => a.depth - b.depth);
}

function depthOf(path: string): number {
  let depth = 1;
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) depth++;
  return depth;
}
