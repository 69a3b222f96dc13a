import {
  badLink,
  belowOther,
  checkTarget,
  memberPath,
  requireNamed,
  tooManyLinks,
  twoTypes,
} from '../../../archive/member-path.ts';
import type { Entry as Member } from '../../../archive/tar-header.ts';
import type { ArchiveSink } from '../../../archive/tar-reader.ts';
import { type ByteString, baseNameOf, parentOf, ROOT_PATH, splitPath } from '../../../byte-string.ts';
import type { ContentsWriter } from '../../../store/blobs/contents-writer.ts';
import type { Writing } from '../../../store/writing.ts';
import type { Source } from '../../../trees/directory/source.ts';
import { type DirectoryEntry, type Entry, type Time, TYPE } from '../../../trees/format/entry.ts';
import { type Key, NO_KEY } from '../../../trees/format/keys.ts';
import { exceeded, type StagedLimits, WHITEOUT } from '../../archive/refused-imports.ts';
import { buildDraft } from '../build-draft.ts';
import { Draft, DraftDirectory, isDirectoryNode, MAX_PENDING, type Node } from '../draft.ts';
import { DIRECTORY_MODE, modifiedAt, newDirectory, newFile, newSymlink } from '../new-entry.ts';
import type { Numbers } from '../numbers.ts';
import { settleLinks } from '../settle-links.ts';
import { StagedCounts } from './staged-counts.ts';

export interface StagedPlace {
  readonly source: Source;
  readonly writing: Writing;
  readonly numbers: Numbers;
  readonly limits: StagedLimits;
  readonly time: Time;
}

/** An archive as a tree of its own. */
export interface StagedTree {
  readonly root: DirectoryEntry;
  /** Whether a directory was made for what is in it only, by its inode number. */
  readonly implied: ReadonlySet<number>;
  /** Whether names begin with the mark of a removal. */
  readonly hasMarks: boolean;
}

/** The file whose contents arrive. */
interface StagedFile {
  readonly path: ByteString;
  readonly member: Member;
  /** Of its contents, as soon as they are stored. */
  key: Key | undefined;
  contents?: ContentsWriter;
}

/** Names of a file, as in the file systems of the hosts that archives come from. */
const MAX_LINKS = 65_000;

/**
 * Makes a tree of the members of an archive as they arrive. If an archive has a path twice, the last one counts. Nothing is
 * written through a symbolic link: it is an entry, and no directory.
 */
export class StagedMembers implements ArchiveSink {
  readonly counts: StagedCounts;
  readonly #place: StagedPlace;
  readonly #draft: Draft;
  readonly #implied = new Set<number>();
  #hasMarks = false;
  /** How many each file with several has, by its inode number: entries of names that were not named since say less. */
  readonly #names = new Map<number, number>();
  /** The directory of the last member. */
  #last: { path: ByteString; directory: DraftDirectory } | undefined;
  #file: StagedFile | undefined;

  constructor(place: StagedPlace) {
    this.#place = place;
    this.counts = new StagedCounts((contents) => {
      const { bytes, entries } = place.limits;
      if (contents.bytes > bytes || contents.files + contents.directories > entries)
        throw exceeded(contents, place.limits);
    });
    const { numbers, time } = place;
    const attributes = { name: ROOT_PATH, ino: numbers.take(), mode: DIRECTORY_MODE, mtime: time, ctime: time };
    this.#draft = new Draft(place.source, newDirectory(attributes));
  }

  begin(member: Member): void {
    const path = memberPath(member.path);
    if (path === ROOT_PATH) {
      requireNamed(member);
      return;
    }
    if (baseNameOf(path).startsWith(WHITEOUT)) this.#hasMarks = true;
    const above = this.#above(path);
    const before = this.#draft.enter(above, baseNameOf(path));
    if (member.type === 'directory') this.#directory(path, above, before, member);
    else if (isDirectoryNode(before)) throw twoTypes(path);
    else this.#other(path, above, before, member);
  }

  content(bytes: Buffer): void {
    this.counts.add({ bytes: bytes.length });
    const file = this.#file!;
    // Most files are in one piece, which needs no copy.
    if (bytes.length === file.member.size) file.key = this.#place.writing.putContents(bytes);
    else this.#contents(file).write(bytes);
  }

  end(): void {
    const file = this.#file!;
    const { path, member } = file;
    const { size } = member;
    const key = file.key ?? this.#contents(file).end().key;
    this.#file = undefined;
    this.#put(path, newFile({ ...this.#attributes(path, member), mode: member.mode }, { key, size }));
  }

  /** Call between pieces: a million names would take hundreds of megabytes. */
  *settle(): Generator<void, void, void> {
    if (this.#draft.pending < MAX_PENDING) return;
    yield* this.#build();
  }

  *finish(): Generator<void, StagedTree, void> {
    const { source, writing, time } = this.#place;
    const built = yield* this.#build();
    const root = this.#names.size > 0 ? yield* settleLinks(source, writing, built, time) : built;
    return { root, implied: this.#implied, hasMarks: this.#hasMarks };
  }

  drop(): void {
    this.#file?.contents?.drop();
    this.#file = undefined;
  }

  #contents(file: StagedFile): ContentsWriter {
    file.contents ??= this.#place.writing.contents();
    return file.contents;
  }

  *#build(): Generator<void, DirectoryEntry, void> {
    this.#last = undefined;
    return yield* buildDraft(this.#place.source, this.#place.writing, this.#draft);
  }

  #directory(path: ByteString, above: DraftDirectory, before: Node | undefined, member: Member): void {
    let directory = before;
    if (!(directory instanceof DraftDirectory)) {
      // A file that came earlier; the last member counts.
      if (directory !== undefined) this.#remove(above, directory as Entry);
      directory = this.#make(above, baseNameOf(path));
    }
    const { mode, mtime } = member;
    const { attributes } = directory;
    directory.attributes = { ...attributes, mode, ...modifiedAt({ s: mtime.sec, ns: mtime.nsec }) };
    this.#implied.delete(attributes.ino);
  }

  #other(path: ByteString, above: DraftDirectory, before: Node | undefined, member: Member): void {
    const linked = member.type === 'link' ? this.#linked(path, memberPath(member.target)) : undefined;
    if (before !== undefined) this.#remove(above, before as Entry);
    this.counts.add({ [member.type === 'symlink' ? 'symlinks' : 'files']: 1 });
    if (member.type === 'file') {
      this.#file = { path, member, key: member.size === 0 ? NO_KEY : undefined };
    } else if (linked !== undefined) {
      this.counts.add({ bytes: linked.size });
      this.#put(path, { ...linked, name: baseNameOf(path) });
    } else {
      checkTarget(path, member.target);
      this.counts.add({ linkBytes: member.target.length });
      this.#put(path, newSymlink(this.#attributes(path, member), member.target));
    }
  }

  /** The file that a hard link is another name of, with one name more. */
  #linked(path: ByteString, to: ByteString): Entry {
    const target = to === path || to === ROOT_PATH ? undefined : this.#find(to);
    if (target === undefined) throw badLink(path);
    const names = (this.#names.get(target.ino) ?? 1) + 1;
    if (names > MAX_LINKS) throw tooManyLinks(path);
    this.#names.set(target.ino, names);
    const linked = { ...target, nlink: names };
    this.#put(to, linked);
    return linked;
  }

  /** The file at a path, if all above it are directories. */
  #find(path: ByteString): Entry | undefined {
    let node: Node | undefined = this.#draft.root;
    for (const name of splitPath(path)) node = node && this.#draft.get(node, name);
    return isDirectoryNode(node) || node?.type !== TYPE.file ? undefined : node;
  }

  #put(path: ByteString, entry: Entry): void {
    const above = this.#above(path);
    const { name } = entry;
    this.#draft.set(above, name, this.#draft.get(above, name), entry);
  }

  #remove(above: DraftDirectory, entry: Entry): void {
    const isLink = entry.type === TYPE.symlink;
    const names = this.#names.get(entry.ino);
    if (names !== undefined) this.#names.set(entry.ino, names - 1);
    this.counts.add(isLink ? { symlinks: -1, linkBytes: -entry.size } : { files: -1, bytes: -entry.size });
    this.#draft.set(above, entry.name, entry, undefined);
  }

  /** The directory of a path, which is made if it is missing. */
  #above(path: ByteString): DraftDirectory {
    const parent = parentOf(path);
    if (this.#last?.path === parent) return this.#last.directory;
    let directory = this.#draft.root;
    for (const name of splitPath(parent)) {
      const next = this.#draft.enter(directory, name) ?? this.#make(directory, name);
      if (!(next instanceof DraftDirectory)) throw belowOther(path, parent);
      directory = next;
    }
    this.#last = { path: parent, directory };
    return directory;
  }

  #make(above: DraftDirectory, name: ByteString): DraftDirectory {
    this.counts.add({ directories: 1 });
    const { numbers, time } = this.#place;
    const made = newDirectory({ name, ino: numbers.take(), mode: DIRECTORY_MODE, mtime: time, ctime: time });
    this.#implied.add(made.ino);
    return this.#draft.make(above, made);
  }

  #attributes(path: ByteString, { mtime }: Member) {
    const { numbers, time } = this.#place;
    const modified = { s: mtime.sec, ns: mtime.nsec };
    return { name: baseNameOf(path), ino: numbers.take(), mtime: modified, ctime: time };
  }
}
