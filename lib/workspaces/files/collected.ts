import { badLink, belowOther, twoTypes } from '../../archive/member-path.ts';
import { type ByteString, parentOf } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { ArchiveMember, UnpackedCounts } from '../workspace-files.ts';
import type { Collected, CollectedFile, HeldArchive } from './unpackings.ts';

/** Members whose contents are stored, or removed, in one step. */
const ITEMS_PER_STEP = 8;
/** Members looked at in one step. */
const LOOKED_PER_STEP = 64;
/** Memory of a collected member in bytes, without its path and target. */
const MEMBER_BYTES = 400;

/** The members of one archive, with the contents of its files, which nothing else knows until all are given names. */
export class Unpacking implements HeldArchive {
  readonly #workspace: LayeredWorkspace;
  readonly #byPath = new Map<ByteString, Collected>();
  readonly #files = new Set<CollectedFile>();
  #layer: string | undefined;
  #symlinks = 0;
  #bytes = 0;
  #memory = 0;

  constructor(workspace: LayeredWorkspace) {
    this.#workspace = workspace;
  }

  get pending(): { files: number; bytes: number } {
    return { files: this.#files.size + this.#symlinks, bytes: this.#bytes };
  }

  get memory(): number {
    return this.#memory;
  }

  /** Adds members in the order of the archive; of several with one path the last one counts. `data`: small contents. */
  *add(members: readonly ArchiveMember[], data: Uint8Array): Steps<void> {
    const { shared } = this.#workspace;
    const counter = new StepCounter(ITEMS_PER_STEP);
    let more = 0;
    for (const member of members) more += memoryOf(member);
    shared.memory.claim(this.#workspace, more, false);
    const contents = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    for (const member of members) {
      this.#add(member, contents);
      if (counter.count()) yield;
    }
  }

  /** Directories before their entries, then all others. */
  *inOrder(): Steps<[path: ByteString, member: Collected][]> {
    this.requireLayer();
    const byDepth: [ByteString, Collected][][] = [];
    const others: [ByteString, Collected][] = [];
    const counter = new StepCounter(LOOKED_PER_STEP);
    for (const [path, member] of this.#byPath) {
      if (counter.count()) yield;
      const above = parentOf(path);
      const parent = this.#byPath.get(above);
      if (parent !== undefined && parent.type !== 'directory') throw belowOther(path, above);
      if (member.type !== 'directory') others.push([path, member]);
      else {
        const depth = depthOf(path);
        const alike = byDepth[depth] ?? [];
        byDepth[depth] = alike;
        alike.push([path, member]);
      }
    }
    const ordered: [ByteString, Collected][] = [];
    for (const alike of [...byDepth.filter(Boolean), others]) {
      for (const each of alike) {
        ordered.push(each);
        if (counter.count()) yield;
      }
    }
    return ordered;
  }

  *counts(): Steps<UnpackedCounts> {
    const counts = { files: 0, directories: 0, symlinks: 0, size: 0 };
    const counted = new Set<CollectedFile>();
    const counter = new StepCounter(LOOKED_PER_STEP);
    for (const member of this.#byPath.values()) {
      if (counter.count()) yield;
      if (member.type === 'directory') counts.directories++;
      else if (member.type === 'symlink') counts.symlinks++;
      else {
        counts.files++;
        if (!counted.has(member)) counts.size += member.size;
        counted.add(member);
      }
    }
    return counts;
  }

  /** Called when the members have names: removes contents without one. */
  *adopt(): Steps<void> {
    const { delta, handles, tree } = this.#workspace;
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const file of this.#files) {
      if (file.handle !== undefined) handles.close(tree, file.handle);
      if (file.body !== undefined && file.size > 0) {
        if (file.id === undefined) delta.copyIn.discard(file.body);
        else delta.copyIn.adopt(delta.table.require(file.id));
      }
      if (counter.count()) yield;
    }
    this.#files.clear();
  }

  /** Removes all contents. */
  *drop(): Steps<void> {
    const { delta, handles, tree } = this.#workspace;
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const file of this.#files) {
      if (file.handle !== undefined) handles.close(tree, file.handle);
      if (file.body !== undefined && file.size > 0 && file.body[0] === delta.layer) delta.copyIn.discard(file.body);
      if (counter.count()) yield;
    }
    this.#files.clear();
  }

  /** A freeze ends the writable layer; what no record names is not in it. */
  requireLayer(): void {
    if (this.#layer === undefined || this.#layer === this.#workspace.delta.layer) return;
    throw new ServiceError(
      'ABORTED',
      'a checkpoint, fork or rollback of the sandbox was made during the import; try again',
    );
  }

  #add(member: ArchiveMember, contents: Buffer): void {
    const { path } = member;
    const before = this.#byPath.get(path);
    if (before?.type === 'directory' && member.type !== 'directory') throw twoTypes(path);
    if (member.type === 'symlink') this.#claimInode();
    this.#count(before, member);
    if (member.type === 'link') {
      const target = this.#byPath.get(member.target);
      if (target?.type !== 'file' || target === before) throw badLink(path);
      this.#byPath.set(path, target);
    } else if (member.type === 'file') {
      this.#byPath.set(path, this.#file(member, contents));
    } else {
      const { path: _, ...other } = member;
      this.#byPath.set(path, other);
    }
  }

  /** A file whose path another member has taken is kept until the end. */
  #count(before: Collected | undefined, member: ArchiveMember): void {
    if (before === undefined || member.type === 'file') this.#memory += memoryOf(member);
    else if (member.type === 'symlink') this.#memory += member.target.length;
    if (before?.type === 'symlink') {
      this.#memory -= before.target.length;
      this.#symlinks--;
    }
    if (member.type === 'symlink') this.#symlinks++;
  }

  #claimInode(): void {
    const { delta, unpackings } = this.#workspace;
    delta.claims.inodes(unpackings.pending.files + 1);
  }

  #file({ mode, mtime, size, at, handle }: ArchiveMember & { type: 'file' }, contents: Buffer): CollectedFile {
    const { delta, unpackings } = this.#workspace;
    const file: CollectedFile = { type: 'file', mode, mtime, size, handle, body: undefined, id: undefined };
    if (handle === undefined) {
      this.#claimInode();
      delta.claims.bytes(unpackings.pending.bytes + size);
      this.requireLayer();
      file.body = delta.copyIn.put(contents.subarray(at, at + size), delta.table.newId());
      this.#layer = file.body[0];
      this.#bytes += size;
    }
    this.#files.add(file);
    return file;
  }
}

function memoryOf(member: ArchiveMember): number {
  return MEMBER_BYTES + member.path.length + (member.type === 'symlink' ? member.target.length : 0);
}

function depthOf(path: ByteString): number {
  let depth = 0;
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) depth++;
  return depth;
}
