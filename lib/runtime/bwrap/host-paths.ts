import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { quoteText } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';
import { mount, unmount } from '../../linux/mount.ts';
import { findMount } from '../../linux/mountinfo.ts';
import { RUNTIME_DIRECTORY } from '../agent-mount.ts';
import { instanceName } from './instance.ts';

/** Mounts of one server; more are refused. */
const MOST = 1000;

interface Mounted {
  /** Changes with what is at the path. */
  identity: string;
  source: Promise<string>;
}

/**
 * Shows paths of the host to sandboxes. bwrap looks for them as the sandbox's user, who may not search the directories
 * above, for example /root. So a server that is root mounts each of them, read-only, at a place that every user can reach;
 * what is in them stays subject to its mode bits. A path is mounted once, and again if something else has taken its place.
 */
export class HostPaths {
  readonly #mountPoint: string;
  readonly #root: boolean;
  readonly #mounted = new Map<string, Mounted>();
  #opened: Promise<void> | undefined;
  #count = 0;

  constructor(stateDir: string, root: boolean) {
    this.#mountPoint = join(RUNTIME_DIRECTORY, `paths-${instanceName(stateDir)}`);
    this.#root = root;
  }

  /** Throws FAILED_PRECONDITION for a path that is missing or leads elsewhere. */
  async sourcesOf(paths: readonly string[]): Promise<{ path: string; source: string }[]> {
    return Promise.all(paths.map(async (path) => ({ path, source: await this.#sourceOf(path) })));
  }

  async #sourceOf(path: string): Promise<string> {
    const found = await stat(path).catch(() => undefined);
    const place = `read_only_paths: ${quoteText(path)}`;
    if (found === undefined)
      throw new ServiceError('FAILED_PRECONDITION', `${place} is missing on the server's machine`);
    const real = await realpath(path);
    if (real !== path) throw new ServiceError('FAILED_PRECONDITION', `${place} leads to ${quoteText(real)}: name that`);
    if (!found.isDirectory() && !found.isFile()) {
      throw new ServiceError('FAILED_PRECONDITION', `${place} is neither a directory nor a file`);
    }
    if (!this.#root) return path;
    const identity = `${found.dev} ${found.ino}`;
    const mounted = this.#mounted.get(path);
    if (mounted?.identity === identity) return mounted.source;
    const source = this.#mount(path, found.isDirectory());
    this.#mounted.set(path, { identity, source });
    source.catch(() => this.#mounted.delete(path));
    return source;
  }

  async #mount(source: string, isDirectory: boolean): Promise<string> {
    if (this.#count >= MOST) throw new ServiceError('RESOURCE_EXHAUSTED', `read_only_paths: ${MOST} paths are mounted`);
    const mountPoint = join(this.#mountPoint, `${this.#count++}`);
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    await this.#opened;
    if (isDirectory) mkdirSync(mountPoint);
    else writeFileSync(mountPoint, '');
    await mount({ type: 'none', options: 'bind,ro,nosuid,nodev', source, mountPoint });
    return mountPoint;
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
    if (!this.#root) return;
    while (await findMount(this.#mountPoint)) await unmount(this.#mountPoint, 'detach');
    try {
      rmdirSync(this.#mountPoint);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}
