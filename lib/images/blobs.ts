import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { type ByteString, fromText, quoteText, toText } from '../byte-string.ts';
import { Directory } from '../host-tree/directory.ts';
import { digestOf } from './digests.ts';
import { invalidImage } from './image-error.ts';
import type { Member } from './members.ts';
import { createFile } from './root-tree.ts';
import type { ImportUsage } from './usage.ts';

/** Names in an OCI image layout, and in what `docker save` writes and wrote. */
const NAMES = [
  /^(oci-layout|index\.json|manifest\.json|repositories)$/,
  /^blobs\/sha256\/[0-9a-f]{64}$/,
  /^(sha256:)?[0-9a-f]{64}(\.json|\.tar|\.tar\.gz)?$/,
  /^[0-9a-f]{64}\/(layer\.tar|json|VERSION)$/,
];
const DIRECTORIES = /^(blobs|blobs\/sha256|[0-9a-f]{64})$/;
/** Files and links of one archive. */
const MAX_BLOBS = 2000;
/** Bytes of a file that is parsed. */
const MAX_JSON = 1 << 20;

/** Name of a member, without `./` and a slash at the end. */
function nameOf({ path }: Member): string {
  return toText(path)
    .replace(/^(\.?\/)+/, '')
    .replace(/\/$/, '');
}

/** Whether an archive that begins with this member is one of layers, and not a file system. */
export function isOfLayers(entry: Member): boolean {
  const name = nameOf(entry);
  return entry.type === 'directory' ? DIRECTORIES.test(name) : NAMES.some((each) => each.test(name));
}

/** The files of an archive of layers, in a directory of the server. */
export class Blobs {
  readonly #directory: string;
  /** The file of each name, or the name that a symbolic link leads to. */
  readonly #found = new Map<string, { file: string } | { link: string }>();
  /** Members so far: of several with one name, the last one counts. */
  #members = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Stores a member. Members that belong to no format are left out. */
  async add(entry: Member, usage: ImportUsage): Promise<void> {
    const name = nameOf(entry);
    if (entry.type === 'directory' || !NAMES.some((each) => each.test(name))) return;
    if (this.#members >= MAX_BLOBS) throw invalidImage(`its archive has more than ${MAX_BLOBS} files`);
    this.#members++;
    if (entry.type === 'symlink') {
      // Layers that are equal to others, in archives of older Docker.
      this.#found.set(name, { link: toText(entry.target).replace(/^\.\.\//, '') });
      return;
    }
    if (entry.type !== 'file') throw invalidImage(`${quoteText(name)} is a hard link`);
    const file = `${this.#members}`;
    await store(this.#directory, fromText(file), entry, usage);
    this.#found.set(name, { file });
  }

  has(name: string): boolean {
    return this.#found.has(name);
  }

  /** The bytes of a file. */
  read(name: string): AsyncIterable<Uint8Array> {
    return createReadStream(this.#path(name), { highWaterMark: 64 * 1024 });
  }

  /** A JSON object, with its digest. */
  async json(name: string): Promise<{ value: Record<string, unknown>; digest: string }> {
    const path = this.#path(name);
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of createReadStream(path)) {
      size += (part as Buffer).length;
      if (size > MAX_JSON) throw invalidImage(`${quoteText(name)} has more than ${MAX_JSON} bytes`);
      parts.push(part as Buffer);
    }
    const bytes = Buffer.concat(parts);
    try {
      const value: unknown = JSON.parse(bytes.toString('utf8'));
      if (typeof value === 'object' && value !== null) return { value: value as never, digest: digestOf(bytes) };
    } catch {
      // Reported below.
    }
    throw invalidImage(`${quoteText(name)} is not JSON`);
  }

  #path(name: string): string {
    const found = this.#found.get(name);
    const target = found !== undefined && 'link' in found ? this.#found.get(found.link) : found;
    if (target === undefined || !('file' in target)) throw invalidImage(`it has no ${quoteText(name)}`);
    return join(this.#directory, target.file);
  }
}

async function store(path: string, name: ByteString, entry: Member, usage: ImportUsage): Promise<void> {
  const directory = await Directory.open(path);
  try {
    const handle = await createFile(directory, name);
    try {
      for await (const piece of entry.content) {
        usage.addBlob(piece.length);
        await handle.writeFile(piece);
      }
    } finally {
      await handle.close();
    }
  } finally {
    await directory.close();
  }
}
