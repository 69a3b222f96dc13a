import { randomBytes } from 'node:crypto';
import { ROOT_PATH } from '../../../../lib/byte-string.ts';
import type { Head } from '../../../../lib/codebases/tree/head.ts';
import { commitChanges } from '../../../../lib/sandboxes/tree/commit.ts';
import type { CommitAnswer, CommitRequest } from '../../../../lib/sandboxes/tree/commit-request.ts';
import type { State } from '../../../../lib/sandboxes/tree/exchange.ts';
import { followHead } from '../../../../lib/sandboxes/tree/follow-head.ts';
import { Hashes } from '../../../../lib/sandboxes/tree/hashes.ts';
import { listChanges } from '../../../../lib/sandboxes/tree/list-changes.ts';
import { entriesOf } from '../../../../lib/trees/directory/entries.ts';
import { type DirectoryEntry, type Entry, isDirectory, TYPE } from '../../../../lib/trees/format/entry.ts';
import { isLocal, type Key } from '../../../../lib/trees/format/keys.ts';
import { HeadMoves } from '../../../../lib/workspaces/tree/exchange/head-moves.ts';
import { TreeScratch } from '../../codebases/tree/trees.ts';
import { SimulatedDisk, Stopped } from '../../disk/simulated-disk.ts';
import { chosen } from '../../trees/model/chosen.ts';
import { flatOf } from '../../workspaces/tree/flat.ts';
import { SandboxOnDisk } from './sandbox-on-disk.ts';

export type Flat = ReadonlyMap<string, string>;

/** A codebase and sandboxes on it, on one disk. */
export class CommitWorld {
  readonly disk: SimulatedDisk;
  readonly scratch: TreeScratch;
  readonly sandboxes = new Map<bigint, SandboxOnDisk>();
  readonly #moves = new HeadMoves();
  meanwhile: () => void = () => {};

  constructor(disk = new SimulatedDisk(), head?: Head) {
    this.disk = disk;
    if (head === undefined) {
      disk.mkdir('/deltas');
      disk.syncFolder('/');
    }
    this.scratch = new TreeScratch(disk, head);
  }

  get codebase() {
    return this.scratch.codebase;
  }

  /** Opens one, or creates one from a state; by default that of head. */
  async sandbox(store: bigint, state?: State): Promise<SandboxOnDisk> {
    const { head } = this.codebase;
    const first = state ?? { mine: head.root, base: { version: head.number, base: head.root } };
    const numbers = await this.codebase.leaseNumbers(1 << 16);
    const meanwhile = () => this.meanwhile();
    const where = { disk: this.disk, codebase: this.scratch.store, moves: this.#moves, meanwhile };
    const sandbox = new SandboxOnDisk(where, store, numbers, first);
    this.sandboxes.set(store, sandbox);
    return sandbox;
  }

  commit(sandbox: SandboxOnDisk, request: Partial<CommitRequest> = {}): Promise<CommitAnswer> {
    return commitChanges(sandbox, this.codebase, {
      choice: chosen(['']),
      onConflict: '',
      check: () => {},
      author: '',
      message: '',
      id: randomBytes(16),
      intent: undefined,
      isRepeated: false,
      ...request,
    });
  }

  follow(sandbox: SandboxOnDisk): Promise<void> {
    return this.codebase.inTurn((turn) => followHead(sandbox, turn));
  }

  async changes(sandbox: SandboxOnDisk): Promise<string[]> {
    const { mine, base, release } = await sandbox.freeze(false);
    const hashes = new Hashes(sandbox).comparing(base.base, mine, undefined);
    let step = hashes.next();
    while (!step.done) step = hashes.next();
    const changes = [...listChanges(step.value, base.base, mine)];
    release();
    return changes.map(({ path, renamedFrom }) => (renamedFrom === undefined ? path : `${renamedFrom} -> ${path}`));
  }

  /** The paths of head with what they have. */
  get files(): Record<string, string> {
    return Object.fromEntries([...this.flat(this.codebase.head.root)].filter(([, what]) => !what.startsWith('d')));
  }

  /** A frozen tree: `d` with the mode of a directory, or `f` with mode and contents. */
  flat(tree: DirectoryEntry, sandbox?: SandboxOnDisk): Flat {
    const source = sandbox?.source ?? this.scratch.store;
    const flat = new Map<string, string>();
    const go = (path: string, entry: Entry) => {
      if (!isDirectory(entry)) {
        const what =
          entry.type === TYPE.symlink ? `f777:-> ${entry.target}` : `f${entry.mode.toString(8)}:${this.text(entry)}`;
        flat.set(path, what);
        return;
      }
      flat.set(path, `d${entry.mode}`);
      for (const child of entriesOf(source, entry.key)) go(path === '' ? child.name : `${path}/${child.name}`, child);
    };
    go(ROOT_PATH, tree);
    return flat;
  }

  /** What programs see. */
  live({ tree }: SandboxOnDisk): Flat {
    const flat = new Map<string, string>();
    for (const [path, { type, mode, size, target, contents }] of flatOf(tree)) {
      if (type === TYPE.directory) flat.set(path, `d${mode}`);
      else if (target !== undefined) flat.set(path, `f777:-> ${target}`);
      else flat.set(path, `f${mode.toString(8)}:${this.text({ key: contents as Key, size })}`);
    }
    return flat;
  }

  text(entry: Pick<Entry, 'key' | 'size'>): string {
    if (entry.size === 0) return '';
    if (!isLocal(entry.key)) return this.scratch.store.bytes(entry.key, entry.size).toString();
    const bytes = Buffer.alloc(entry.size);
    const [any] = this.sandboxes.values();
    any!.contents.read(entry as Entry, 0, bytes);
    return bytes.toString();
  }
}

/** Whether a call failed because the server has ended. */
export function isEnd(error: unknown): boolean {
  return error instanceof Stopped || (error instanceof Error && error.cause !== undefined && isEnd(error.cause));
}
