import type { ImportMode } from '../../../../../lib/field-values.ts';
import type { Members } from '../archives.ts';

export type Node = { dir: number } | { file: string; mode: number } | { link: string };
type Code = 'FAILED_PRECONDITION' | 'NOT_FOUND' | 'INVALID_ARGUMENT' | undefined;

const IMPLIED = 0o755;
const isDir = (node: Node | undefined): node is { dir: number } => node !== undefined && 'dir' in node;

function parentsOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, n) => names.slice(0, n + 1).join('/'));
}

/** A codebase as one flat map of paths. Calls answer with the code of a refusal, which changes nothing. */
export class Oracle {
  readonly nodes: Map<string, Node>;

  constructor(nodes: Iterable<[string, Node]> = []) {
    this.nodes = new Map(nodes);
  }

  copy(): Oracle {
    return new Oracle(this.nodes);
  }

  put(path: string, node: Node): Code {
    if (this.#isBlocked(path) || isDir(this.nodes.get(path))) return 'FAILED_PRECONDITION';
    this.#makeAbove(path);
    this.nodes.set(path, node);
  }

  remove(path: string): Code {
    if (this.#isBlocked(path) || isDir(this.nodes.get(path))) return 'FAILED_PRECONDITION';
    if (!this.nodes.delete(path)) return 'NOT_FOUND';
    for (const above of parentsOf(path).reverse()) if (!this.#hasBelow(above)) this.nodes.delete(above);
  }

  import(members: Members, mode: ImportMode): Code {
    const staged = new Staged();
    for (const [path, content, bits = 0o644] of members)
      if (!staged.add(path, content, bits)) return 'INVALID_ARGUMENT';
    const after = mode === 'replace' ? new Oracle(staged.nodes) : this.copy();
    const code = mode === 'replace' ? undefined : after.#merge(staged, mode === 'update', this);
    if (code !== undefined) return code;
    this.nodes.clear();
    for (const [path, node] of after.nodes) this.nodes.set(path, node);
  }

  get lines(): string[] {
    return [...this.nodes].map(([path, node]) => `${path} ${JSON.stringify(node)}`).sort();
  }

  #merge(staged: Staged, isUpdate: boolean, before: Oracle): Code {
    for (const path of [...staged.nodes.keys()].sort()) {
      const node = staged.nodes.get(path)!;
      const slash = path.lastIndexOf('/');
      if (isUpdate && path.slice(slash + 1).startsWith('.wh.')) {
        const removed = path.slice(0, slash + 1) + path.slice(slash + 5);
        const isBeside = slash < 0 || isDir(before.nodes.get(path.slice(0, slash)));
        if (!isBeside || staged.nodes.has(removed)) return 'INVALID_ARGUMENT';
        this.#drop(removed);
        continue;
      }
      const there = this.nodes.get(path);
      if (isDir(there) && isDir(node)) {
        if (!staged.implied.has(path)) this.nodes.set(path, node);
        continue;
      }
      if (there !== undefined && isDir(there) !== isDir(node)) {
        if (!isUpdate) return 'FAILED_PRECONDITION';
        this.#drop(path);
      }
      this.nodes.set(path, node);
    }
  }

  #drop(path: string): void {
    for (const each of [...this.nodes.keys()])
      if (each === path || each.startsWith(`${path}/`)) this.nodes.delete(each);
  }

  /** Something that is no directory is above it. */
  #isBlocked(path: string): boolean {
    return parentsOf(path).some((above) => this.nodes.has(above) && !isDir(this.nodes.get(above)));
  }

  #makeAbove(path: string): void {
    for (const above of parentsOf(path)) if (!this.nodes.has(above)) this.nodes.set(above, { dir: IMPLIED });
  }

  #hasBelow(path: string): boolean {
    return [...this.nodes.keys()].some((each) => each.startsWith(`${path}/`));
  }
}

class Staged {
  readonly nodes = new Map<string, Node>();
  readonly implied = new Set<string>();

  add(path: string, content: Members[number][1], mode: number): boolean {
    for (const above of parentsOf(path)) {
      const node = this.nodes.get(above);
      if (node !== undefined && !isDir(node)) return false;
      if (node !== undefined) continue;
      this.nodes.set(above, { dir: IMPLIED });
      this.implied.add(above);
    }
    if (content === 'directory') {
      this.nodes.set(path, { dir: mode });
      this.implied.delete(path);
      return true;
    }
    if (isDir(this.nodes.get(path))) return false;
    const node = this.#nodeOf(path, content, mode);
    if (node !== undefined) this.nodes.set(path, node);
    return node !== undefined;
  }

  #nodeOf(path: string, content: Members[number][1], mode: number): Node | undefined {
    if (typeof content === 'string') return { file: content, mode };
    if (!content.hard) return { link: content.to };
    const to = content.to === path ? undefined : this.nodes.get(content.to);
    return to !== undefined && 'file' in to ? to : undefined;
  }
}
