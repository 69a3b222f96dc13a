import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { type FileHandle, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';
import { FD3, mount, unmount } from '../../linux/mount.ts';
import { findMount } from '../../linux/mountinfo.ts';
import { RUNTIME_DIRECTORY } from '../agent-mount.ts';
import { instanceName } from './instance.ts';
import { openExactly, refusal } from './open-exactly.ts';

/** Mounts of one server; more are refused. `kept`: those that no sandbox needs just now. */
const LIMITS = { most: 1000, kept: 64 };

interface Mounted {
  readonly mountPoint: string;
  /** Changes with what is at the path. */
  readonly identity: string;
  readonly ready: Promise<void>;
  users: number;
}

/** Paths with what to bind there, until the release: a sandbox that has started has mounts of its own. */
export interface Taken {
  sources: { path: string; source: string }[];
  release(): Promise<void>;
}

/**
 * Shows paths of the host to sandboxes. bwrap looks for them as the sandbox's user, who may not search the directories
 * above, for example /root. So a server that is root mounts each of them, read-only, at a place that every user can reach;
 * what is in them stays subject to its mode bits. A path is mounted once for the sandboxes that start, and again if
 * something else has taken its place. Those least recently needed are unmounted.
 */
export class HostPaths {
  readonly #mountPoint: string;
  readonly #root: boolean;
  readonly #limits: typeof LIMITS;
  /** The most recently needed are last. */
  readonly #mounted = new Map<string, Mounted>();
  #opened: Promise<void> | undefined;
  #names = 0;
  #count = 0;

  constructor(stateDir: string, root: boolean, limits = LIMITS) {
    this.#mountPoint = join(RUNTIME_DIRECTORY, `paths-${instanceName(stateDir)}`);
    this.#root = root;
    this.#limits = limits;
  }

  /** Throws FAILED_PRECONDITION for a path that is missing or leads elsewhere, RESOURCE_EXHAUSTED for too many. */
  async take(paths: readonly string[]): Promise<Taken> {
    const all = await Promise.allSettled(paths.map((path) => this.#take(path)));
    const taken = all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const release = async () => {
      await Promise.all(taken.map(({ path, mounted }) => mounted && this.#release(path, mounted)));
    };
    const failed = all.find((each) => each.status === 'rejected');
    if (failed === undefined) {
      return { sources: taken.map(({ path, mounted }) => ({ path, source: mounted?.mountPoint ?? path })), release };
    }
    await release();
    throw failed.reason;
  }

  async #take(path: string): Promise<{ path: string; mounted?: Mounted }> {
    const handle = await openExactly(path);
    try {
      if (!this.#root) return { path };
      const identity = await identityOf(handle);
      const known = this.#mounted.get(path);
      const mounted = known?.identity === identity ? known : await this.#add(path, handle, identity);
      mounted.users++;
      this.#mounted.delete(path);
      this.#mounted.set(path, mounted);
      try {
        await mounted.ready;
      } catch (error) {
        mounted.users--;
        throw error;
      }
      return { path, mounted };
    } finally {
      await handle.close();
    }
  }

  /** The descriptor must stay open until it is ready. */
  async #add(path: string, handle: FileHandle, identity: string): Promise<Mounted> {
    const isDirectory = (await handle.stat()).isDirectory();
    const other = this.#mounted.get(path);
    if (other?.identity === identity) return other;
    if (this.#count >= this.#limits.most) {
      throw new ServiceError('RESOURCE_EXHAUSTED', `read_only_paths: ${this.#limits.most} paths are mounted`);
    }
    this.#count++;
    const mountPoint = join(this.#mountPoint, `${this.#names++}`);
    const ready = this.#mount(path, handle, { mountPoint, identity, isDirectory });
    const mounted = { mountPoint, identity, ready, users: 0 };
    this.#mounted.set(path, mounted);
    ready.catch(() => {
      this.#count--;
      if (this.#mounted.get(path) === mounted) this.#mounted.delete(path);
    });
    if (other?.users === 0) await this.#unmount(other);
    return mounted;
  }

  async #mount(
    path: string,
    { fd }: FileHandle,
    { mountPoint, identity, isDirectory }: Pick<Mounted, 'mountPoint' | 'identity'> & { isDirectory: boolean },
  ): Promise<void> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    await this.#opened;
    if (isDirectory) mkdirSync(mountPoint);
    else writeFileSync(mountPoint, '');
    try {
      await mount({ type: 'none', options: 'bind,ro,nosuid,nodev', source: FD3, mountPoint, fd3: fd });
      const { dev, ino } = await stat(mountPoint, { bigint: true });
      if (`${dev} ${ino}` !== identity) throw refusal(path, 'was exchanged while it was mounted');
    } catch (error) {
      await this.#clear(mountPoint);
      throw error;
    }
  }

  async #release(path: string, mounted: Mounted): Promise<void> {
    mounted.users--;
    if (mounted.users > 0) return;
    // Something else is at the path now.
    if (this.#mounted.get(path) !== mounted) return this.#unmount(mounted);
    const unused = [...this.#mounted].filter(([, { users }]) => users === 0);
    const old = unused.slice(0, Math.max(0, unused.length - this.#limits.kept));
    for (const [each] of old) this.#mounted.delete(each);
    await Promise.all(old.map(([, each]) => this.#unmount(each)));
  }

  async #unmount({ mountPoint }: Mounted): Promise<void> {
    if (await this.#clear(mountPoint)) this.#count--;
  }

  /** False: it is still mounted, until `close`. */
  async #clear(mountPoint: string): Promise<boolean> {
    await unmount(mountPoint, 'detach').catch(() => undefined);
    return rmdir(mountPoint)
      .catch((error) => (errorCode(error) === 'ENOTDIR' ? unlink(mountPoint) : Promise.reject(error)))
      .then(
        () => true,
        () => false,
      );
  }

  /** A file system of its own, with which all mounts in it go. */
  async #open(): Promise<void> {
    mkdirSync(this.#mountPoint, { recursive: true, mode: 0o711 });
    await mount({
      type: 'tmpfs',
      options: 'nosuid,nodev,mode=0711,size=1m',
      source: 'paths',
      mountPoint: this.#mountPoint,
    });
  }

  /** Removes the mounts, also those of a dead server; never what is in them. No sandbox may be starting. */
  async close(): Promise<void> {
    this.#mounted.clear();
    this.#opened = undefined;
    this.#count = 0;
    if (!this.#root) return;
    while (await findMount(this.#mountPoint)) await unmount(this.#mountPoint, 'detach');
    try {
      rmdirSync(this.#mountPoint);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

async function identityOf(handle: FileHandle): Promise<string> {
  const { dev, ino } = await handle.stat({ bigint: true });
  return `${dev} ${ino}`;
}
