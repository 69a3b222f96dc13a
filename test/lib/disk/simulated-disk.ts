import { constants } from 'node:os';
import type { Disk, OpenAs } from '../../../lib/disk/disk.ts';
import { type Choose, SimulatedFile } from './simulated-file.ts';
import { type Node, SimulatedFolder } from './simulated-folder.ts';

/** The process ended within a call. Nothing of it runs on: each further call throws this, too. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** What a test lets happen at the call of this number; calls that only read are not counted. */
export interface Fault {
  readonly at: number;
  /** 'stop', or the code of an error: `EIO`. */
  readonly with: string;
}

/**
 * A disk in memory that starts empty. It can stop at a call, let one fail, be full, and lose power: then any of what was not
 * synced is gone, whole or in part.
 */
export class SimulatedDisk implements Disk {
  /** Changing calls so far. */
  calls = 0;
  fault: Fault | undefined;
  /** Bytes that files may still grow by. */
  room = Number.POSITIVE_INFINITY;
  readonly #root: SimulatedFolder;
  readonly #open = new Map<number, SimulatedFile>();
  #next = 3;
  #stopped = false;

  constructor(root = new SimulatedFolder()) {
    this.#root = root;
  }

  /** The disk after a loss of power. `choose` decides what of the unsynced survives. */
  crashed(choose: Choose): SimulatedDisk {
    return new SimulatedDisk(this.#root.crashed(choose));
  }

  /** The same disk after the end of the process alone: a later loss of power may still take what was not synced. */
  killed(): SimulatedDisk {
    return new SimulatedDisk(this.#root);
  }

  /** Another one with all that is on this one. */
  copied(): SimulatedDisk {
    return this.crashed(() => 1);
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  get openFiles(): number {
    return this.#open.size;
  }

  open(path: string, how: OpenAs, mode = 0o600): number {
    this.#check();
    if (how !== 'create') return this.#opened(this.#file('open', path));
    this.#change('open', () => {
      if (this.#find('open', path) !== undefined) throw failed('EEXIST', 'open', path);
      const file = new SimulatedFile(mode);
      this.#name('open', path, file);
    });
    return this.#opened(this.#file('open', path));
  }

  close(fd: number): void {
    this.#check();
    if (!this.#open.delete(fd)) throw failed('EBADF', 'close', String(fd));
  }

  size(fd: number): number {
    this.#check();
    return this.#opens('fstat', fd).size;
  }

  pread(fd: number, into: Uint8Array, offset: number): number {
    this.#check();
    // As node:fs does.
    if (offset < 0) throw new RangeError(`offset ${offset}`);
    return this.#opens('read', fd).read(into, offset);
  }

  pwrite(fd: number, bytes: Uint8Array, offset: number): void {
    const file = this.#opens('write', fd);
    const part = bytes.subarray(0, Math.floor(bytes.length / 2));
    this.#change(
      'write',
      () => {
        const growth = Math.max(0, offset + bytes.length - file.size);
        const fits = growth <= this.room ? bytes : bytes.subarray(0, Math.max(0, bytes.length - growth + this.room));
        this.room -= Math.min(growth, this.room);
        file.write(fits, offset);
        if (fits !== bytes) throw failed('ENOSPC', 'write', String(fd));
      },
      () => file.write(part, offset),
    );
  }

  truncate(fd: number, size: number): void {
    const file = this.#opens('ftruncate', fd);
    this.#change('ftruncate', () => {
      this.room += Math.max(0, file.size - size);
      file.truncate(size);
    });
  }

  chmod(fd: number, mode: number): void {
    const file = this.#opens('fchmod', fd);
    this.#change('fchmod', () => {
      file.mode = mode;
    });
  }

  datasync(fd: number): void {
    const file = this.#opens('fdatasync', fd);
    this.#change(
      'fdatasync',
      () => file.sync(),
      // The end of the process is no failure: the pages stay dirty.
      () => this.fault?.with !== 'stop' && file.syncFailed(),
    );
  }

  rename(from: string, to: string): void {
    this.#change('rename', () => {
      const node = this.#find('rename', from);
      if (node === undefined) throw failed('ENOENT', 'rename', from);
      const replaced = this.#find('rename', to);
      if (replaced === node) return;
      if (replaced instanceof SimulatedFile) this.#drop(replaced);
      const removed = { ...this.#parent('rename', from), node: undefined };
      SimulatedFolder.change([removed, { ...this.#parent('rename', to), node }]);
    });
  }

  link(from: string, to: string): void {
    this.#change('link', () => {
      const file = this.#file('link', from);
      if (this.#find('link', to) !== undefined) throw failed('EEXIST', 'link', to);
      this.#name('link', to, file);
    });
  }

  unlink(path: string): void {
    this.#change('unlink', () => {
      const file = this.#file('unlink', path);
      this.#drop(file);
      SimulatedFolder.change([{ ...this.#parent('unlink', path), node: undefined }]);
    });
  }

  mkdir(path: string): void {
    this.#change('mkdir', () => {
      if (this.#find('mkdir', path) !== undefined) throw failed('EEXIST', 'mkdir', path);
      SimulatedFolder.change([{ ...this.#parent('mkdir', path), node: new SimulatedFolder() }]);
    });
  }

  readdir(path: string): string[] {
    this.#check();
    return [...this.#folder('scandir', path).names.keys()].sort();
  }

  syncFolder(path: string): void {
    this.#change('fsync', () => this.#folder('fsync', path).sync());
  }

  /** The live contents, for a test to look at; what it changes in them is durable. */
  file(path: string): SimulatedFile {
    return this.#file('open', path);
  }

  /** `half`: what a call that failed may have done, or one that was cut off. */
  #change(call: string, run: () => void, half: (stopped: boolean) => void = () => {}): void {
    this.#check();
    const { fault } = this;
    if (this.calls++ !== fault?.at) {
      run();
      return;
    }
    this.#stopped = fault.with === 'stop';
    half(this.#stopped);
    throw this.#stopped ? new Stopped(call) : failed(fault.with, call, '');
  }

  #check(): void {
    if (this.#stopped) throw new Stopped('a call after the end');
  }

  #drop(file: SimulatedFile): void {
    file.names--;
    if (file.names === 0) this.room += file.size;
  }

  #opened(file: SimulatedFile): number {
    const fd = this.#next++;
    this.#open.set(fd, file);
    return fd;
  }

  #opens(call: string, fd: number): SimulatedFile {
    const file = this.#open.get(fd);
    if (file === undefined) throw failed('EBADF', call, String(fd));
    return file;
  }

  #name(call: string, path: string, file: SimulatedFile): void {
    file.names++;
    SimulatedFolder.change([{ ...this.#parent(call, path), node: file }]);
  }

  #file(call: string, path: string): SimulatedFile {
    const node = this.#find(call, path);
    if (node === undefined) throw failed('ENOENT', call, path);
    if (node instanceof SimulatedFile) return node;
    throw failed('EISDIR', call, path);
  }

  #folder(call: string, path: string): SimulatedFolder {
    const node = this.#find(call, path);
    if (node instanceof SimulatedFolder) return node;
    throw failed(node === undefined ? 'ENOENT' : 'ENOTDIR', call, path);
  }

  #parent(call: string, path: string): { in: SimulatedFolder; name: string } {
    const slash = path.lastIndexOf('/');
    return { in: this.#folder(call, path.slice(0, slash) || '/'), name: path.slice(slash + 1) };
  }

  #find(call: string, path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of path.split('/').filter((each) => each !== '')) {
      if (node === undefined) throw failed('ENOENT', call, path);
      if (node instanceof SimulatedFile) throw failed('ENOTDIR', call, path);
      node = node.names.get(name);
    }
    return node;
  }
}

function failed(code: string, call: string, path: string): Error {
  const errno = -constants.errno[code as keyof typeof constants.errno];
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, errno, syscall: call });
}
