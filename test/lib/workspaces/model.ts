/** A simple file system in memory: the expected view of the sandbox after every step. */
export interface ModelDir {
  kind: 'dir';
  entries: Map<string, ModelNode>;
}

interface ModelFile {
  kind: 'file';
  content: string;
}

interface ModelLink {
  kind: 'symlink';
  target: string;
}

export type ModelNode = ModelDir | ModelFile | ModelLink;

/** Whether the path may be changed. The model's only rule; everything else is visible and readable. */
export type MayWrite = (path: string) => boolean;

export class ModelFileSystem {
  readonly root: ModelDir = { kind: 'dir', entries: new Map() };
  #mayWrite: MayWrite;

  constructor(mayWrite: MayWrite) {
    this.#mayWrite = mayWrite;
  }

  under(mayWrite: MayWrite): this {
    this.#mayWrite = mayWrite;
    return this;
  }

  /** Copies the tree; hard links stay links. */
  copy(): ModelFileSystem {
    const other = new ModelFileSystem(this.#mayWrite);
    const copies = new Map<ModelNode, ModelNode>();
    const copied = (node: ModelNode): ModelNode => {
      const known = copies.get(node);
      if (known !== undefined) return known;
      const copy: ModelNode = node.kind === 'dir' ? { kind: 'dir', entries: new Map() } : { ...node };
      copies.set(node, copy);
      if (node.kind === 'dir')
        for (const [name, each] of node.entries) (copy as ModelDir).entries.set(name, copied(each));
      return copy;
    };
    for (const [name, node] of this.root.entries) other.root.entries.set(name, copied(node));
    return other;
  }

  create(path: string, content: string): string {
    return this.#add(path, { kind: 'file', content });
  }

  mkdir(path: string): string {
    return this.#add(path, { kind: 'dir', entries: new Map() });
  }

  symlink(target: string, path: string): string {
    return this.#add(path, { kind: 'symlink', target });
  }

  write(path: string, content: string, offset: number): string {
    const node = this.#get(path);
    if (typeof node === 'string') return node;
    if (node.kind !== 'file') return node.kind === 'dir' ? 'EISDIR' : 'EINVAL';
    if (!this.#mayWriteNode(node)) return 'EACCES';
    const before = node.content.slice(0, offset).padEnd(offset, '\0');
    node.content = before + content + node.content.slice(offset + content.length);
    return 'ok';
  }

  truncate(path: string, size: number): string {
    const node = this.#get(path);
    if (typeof node === 'string') return node;
    if (!this.#mayWriteNode(node)) return 'EACCES';
    if (node.kind !== 'file') return node.kind === 'dir' ? 'EISDIR' : 'EINVAL';
    node.content = node.content.slice(0, size).padEnd(size, '\0');
    return 'ok';
  }

  link(from: string, to: string): string {
    const node = this.#get(from);
    if (typeof node === 'string') return node;
    const place = this.#place(to);
    if (typeof place === 'string') return place;
    if (node.kind === 'dir') return 'EPERM';
    if (place.node !== undefined) return 'EEXIST';
    if (!this.#mayWrite(to) || !this.#mayWriteNode(node)) return 'EACCES';
    place.dir.entries.set(place.name, node);
    return 'ok';
  }

  unlink(path: string): string {
    return this.#remove(path, 'file');
  }

  rmdir(path: string): string {
    return this.#remove(path, 'dir');
  }

  rename(from: string, to: string): string {
    const source = this.#place(from);
    if (typeof source === 'string') return source;
    const target = this.#place(to);
    if (typeof target === 'string') return target;
    const node = source.node;
    if (node === undefined) return 'ENOENT';
    if (!this.#mayWrite(from) || !this.#mayWrite(to) || !this.#mayWriteNode(node)) return 'EACCES';
    if (node.kind === 'dir' && !this.#mayMove(node, from, to)) return 'EACCES';
    if (node.kind === 'dir' && `${to}/`.startsWith(`${from}/`)) return from === to ? 'ok' : 'EINVAL';
    const replaced = target.node;
    if (replaced !== undefined) {
      if (replaced === node) return 'ok';
      if (node.kind === 'dir' && replaced.kind !== 'dir') return 'ENOTDIR';
      if (node.kind !== 'dir' && replaced.kind === 'dir') return 'EISDIR';
      if (replaced.kind === 'dir' && replaced.entries.size > 0) return 'ENOTEMPTY';
    }
    source.dir.entries.delete(source.name);
    target.dir.entries.set(target.name, node);
    return 'ok';
  }

  /** Returns the tree in the form of `Sandbox.tree`. */
  tree(dir = this.root, path = ''): Record<string, string> {
    const all: Record<string, string> = {};
    for (const [name, node] of dir.entries) {
      const at = path + name;
      if (node.kind === 'dir') Object.assign(all, { [`${at}/`]: '' }, this.tree(node, `${at}/`));
      else all[at] = node.kind === 'file' ? node.content : `-> ${node.target}`;
    }
    return all;
  }

  #add(path: string, node: ModelNode): string {
    const place = this.#place(path);
    if (typeof place === 'string') return place;
    if (place.node !== undefined) return 'EEXIST';
    if (!this.#mayWrite(path)) return 'EACCES';
    place.dir.entries.set(place.name, node);
    return 'ok';
  }

  #remove(path: string, kind: 'file' | 'dir'): string {
    const place = this.#place(path);
    if (typeof place === 'string') return place;
    const { node } = place;
    if (node === undefined) return 'ENOENT';
    if (kind === 'dir' && node.kind !== 'dir') return 'ENOTDIR';
    if (kind === 'file' && node.kind === 'dir') return 'EISDIR';
    if (!this.#mayWrite(path)) return 'EACCES';
    if (node.kind === 'dir' && node.entries.size > 0) return 'ENOTEMPTY';
    place.dir.entries.delete(place.name);
    return 'ok';
  }

  #get(path: string): ModelNode | string {
    const place = this.#place(path);
    return typeof place === 'string' ? place : (place.node ?? 'ENOENT');
  }

  #place(path: string): { dir: ModelDir; name: string; node: ModelNode | undefined } | string {
    const names = path.split('/');
    const name = names.pop()!;
    let dir: ModelNode = this.root;
    for (const part of names) {
      const next: ModelNode | undefined = dir.entries.get(part);
      if (next === undefined) return 'ENOENT';
      if (next.kind !== 'dir') return 'ENOTDIR';
      dir = next;
    }
    return { dir, name, node: dir.entries.get(name) };
  }

  #mayMove(dir: ModelDir, from: string, to: string): boolean {
    return [...dir.entries].every(([name, node]) => {
      const [below, there] = [`${from}/${name}`, `${to}/${name}`];
      return (
        this.#mayWrite(below) && this.#mayWrite(there) && (node.kind !== 'dir' || this.#mayMove(node, below, there))
      );
    });
  }

  /** By every name it has. */
  #mayWriteNode(node: ModelNode, dir = this.root, path = ''): boolean {
    return [...dir.entries].every(([name, other]) => {
      if (other === node && !this.#mayWrite(path + name)) return false;
      return other.kind !== 'dir' || this.#mayWriteNode(node, other, `${path}${name}/`);
    });
  }
}
