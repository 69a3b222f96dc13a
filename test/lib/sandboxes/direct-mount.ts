import { fromLatin1 } from '../../../lib/byte-string.ts';
import type { Caller } from '../../../lib/fuse/filesystem.ts';
import { WorkspaceFileSystem } from '../../../lib/workspaces/workspace-file-system.ts';
import type { Frozen, WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { Notices } from '../workspaces/sandbox.ts';
import { FakeMount } from './fixture.ts';

/** Real deltas and layers, without a kernel: what programs do is done by `write` and read by `read`. */
export class DirectMount extends FakeMount {
  readonly fs = new WorkspaceFileSystem(new Notices());

  override async attach(spec: WorkspaceSpec): Promise<string> {
    const path = await super.attach(spec);
    this.fs.attach(spec);
    return path;
  }

  override async detach(id: string): Promise<void> {
    this.fs.detach(id);
    await super.detach(id);
  }

  override async freeze(id: string, limited?: boolean): Promise<Frozen> {
    return this.fs.freeze(id, limited);
  }

  override async requireForkRoom(id?: string, checkpoint?: string): Promise<void> {
    this.fs.requireForkRoom(id!, checkpoint!);
  }

  override async setCheckpoints(id?: string, layers?: readonly string[]): Promise<void> {
    this.fs.setCheckpoints(id!, layers!);
  }

  override async rollback(id?: string, layer?: string): Promise<void> {
    this.fs.rollback(id!, layer!);
  }

  override async compact(id?: string, layers?: readonly string[]): ReturnType<FakeMount['compact']> {
    for (;;) {
      const outcome = this.fs.compact(id!, layers!, 100);
      if (outcome !== 'more') return outcome;
    }
  }

  override async layersRemoved(): Promise<void> {
    this.fs.layersRemoved();
  }

  /** Makes or overwrites a file in the root. */
  write(id: string, name: string, content: string): void {
    const { caller, root } = this.#root(id);
    const { nodeid } =
      this.fs.lookup(caller, root, fromLatin1(name)) ?? this.fs.create(caller, root, fromLatin1(name), 0o644, 0);
    this.fs.setattr(caller, nodeid, { size: 0 });
    this.fs.write(caller, nodeid, 0, Buffer.from(content), false);
  }

  read(id: string, name: string): string | undefined {
    const { caller, root } = this.#root(id);
    const found = this.fs.lookup(caller, root, fromLatin1(name));
    if (found === undefined) return undefined;
    const into = Buffer.alloc(found.attr.size);
    return into.toString('latin1', 0, this.fs.read(caller, found.nodeid, 0, into));
  }

  #root(id: string): { caller: Caller; root: number } {
    const { uid } = this.attached.get(id)!;
    const caller = { uid, gid: uid, pid: 1 };
    return { caller, root: this.fs.lookup(caller, 1, fromLatin1(id))!.nodeid };
  }
}
