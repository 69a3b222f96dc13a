import { ServiceError } from '../errors.ts';
import type { ByteString } from '../fuse/filesystem.ts';
import type { Actor, FileOperation, WorkspaceFiles } from '../fuse/workspace-files.ts';
import type { WorkspaceSpec, Workspaces } from '../fuse/workspaces.ts';
import type { Log } from '../log.ts';
import type { PermissionRule } from '../messages.ts';

interface Options {
  /** Mounts, clearing away first what a dead server or worker left there. */
  mount: () => Promise<Workspaces>;
  /** The file system stopped serving: everything attached is gone. */
  lost: (reason: string) => void;
  log: Log;
}

/**
 * The workspace file system over the life of the server: mounted at the first need and again after it died. A server
 * whose sandboxes are all of the mock runtime never mounts.
 */
export class WorkspaceMount implements Omit<Workspaces, 'usage' | 'died'> {
  readonly #options: Options;
  #mounted: Promise<Workspaces> | undefined;
  /** A dead mount being put away; a new one waits for it, since both would lie at the same path. */
  #clearing: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves when it is mounted; a failure is tried again at the next need. */
  async ready(): Promise<Workspaces> {
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the server is shutting down');
    if (this.#mounted) return this.#mounted;
    const mounted = this.#clearing.then(() => this.#options.mount());
    this.#mounted = mounted;
    try {
      this.#watch(await mounted, mounted);
    } catch (error) {
      this.#forget(mounted);
      throw error;
    }
    return mounted;
  }

  async attach(spec: WorkspaceSpec): Promise<string> {
    return (await this.ready()).attach(spec);
  }

  async detach(id: string): Promise<void> {
    await (await this.#mounted)?.detach(id);
  }

  async setRules(id: string, rules: readonly PermissionRule[]): Promise<void> {
    await (await this.ready()).setRules(id, rules);
  }

  async changes(...args: Parameters<Workspaces['changes']>): ReturnType<Workspaces['changes']> {
    return (await this.ready()).changes(...args);
  }

  async contents(...args: Parameters<Workspaces['contents']>): ReturnType<Workspaces['contents']> {
    return (await this.ready()).contents(...args);
  }

  async revert(id: string, paths: readonly ByteString[]): Promise<number> {
    return (await this.ready()).revert(id, paths);
  }

  async renamed(id: string): ReturnType<Workspaces['renamed']> {
    return (await this.ready()).renamed(id);
  }

  async keepRemoved(...args: Parameters<Workspaces['keepRemoved']>): Promise<boolean> {
    return (await this.ready()).keepRemoved(...args);
  }

  async settle(...args: Parameters<Workspaces['settle']>): Promise<void> {
    await (await this.ready()).settle(...args);
  }

  async freeze(id: string): ReturnType<Workspaces['freeze']> {
    return (await this.ready()).freeze(id);
  }

  async rollback(id: string, layer: string): Promise<void> {
    await (await this.ready()).rollback(id, layer);
  }

  async absorb(id: string, layers: readonly string[]): ReturnType<Workspaces['absorb']> {
    return (await this.ready()).absorb(id, layers);
  }

  /** Where nothing is mounted, or no longer, nothing is held. */
  async layersRemoved(): Promise<void> {
    await this.#tell((workspaces) => workspaces.layersRemoved());
  }

  async flush(): Promise<void> {
    await (await this.ready()).flush();
  }

  async files<O extends FileOperation>(
    id: string,
    actor: Actor,
    operation: O,
    ...args: Parameters<WorkspaceFiles[O]>
  ): Promise<ReturnType<WorkspaceFiles[O]>> {
    return (await this.ready()).files(id, actor, operation, ...args);
  }

  async baseChanging(codebaseId: string, paths: readonly ByteString[]): Promise<void> {
    await this.#tell((workspaces) => workspaces.baseChanging(codebaseId, paths));
  }

  async baseChanged(codebaseId: string, paths: readonly ByteString[]): Promise<void> {
    await this.#tell((workspaces) => workspaces.baseChanged(codebaseId, paths));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#clearing;
    await (await this.#mounted?.catch(() => undefined))?.close();
  }

  /** Where nothing is mounted, or no longer, nobody sees any base. */
  async #tell(call: (workspaces: Workspaces) => Promise<void>): Promise<void> {
    const mounted = this.#mounted;
    const workspaces = await mounted?.catch(() => undefined);
    if (!workspaces) return;
    try {
      await call(workspaces);
    } catch (error) {
      if (this.#mounted === mounted) throw error;
    }
  }

  #watch(workspaces: Workspaces, mounted: Promise<Workspaces>): void {
    workspaces.died.then((reason) => {
      this.#clearing = workspaces.close().catch(() => undefined);
      this.#forget(mounted);
      this.#options.log.error('the workspace file system died', { reason });
      this.#options.lost(reason);
    });
  }

  #forget(mounted: Promise<Workspaces>): void {
    if (this.#mounted === mounted) this.#mounted = undefined;
  }
}
