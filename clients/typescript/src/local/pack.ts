import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOf } from './glob.ts';
import { IgnoreFile } from './ignore.ts';
import { Pieces } from './pieces.ts';
import { requireOwnRepository } from './repository.ts';
import { END, headerOf, padding } from './tar.ts';
import { type Found, foundOf, requireDirectory, unlessGone, type WalkOptions, walk } from './walk.ts';

export type PackOptions = WalkOptions;

/** The files of a local directory as a tar archive, which can be read several times. `sent`: see `packed`. */
export function archiveOf(
  directory: string,
  options: PackOptions = {},
  sent?: (found: Found) => void,
): () => AsyncIterable<Uint8Array> {
  return () => ({
    [Symbol.asyncIterator]() {
      const stop = new AbortController();
      const pieces = packed(directory, walk(directory, options, stop.signal), { sent });
      // A generator ends only at its next piece, which may be far: everything before it may be left out.
      const end = (): Promise<IteratorResult<Uint8Array, void>> => {
        stop.abort();
        return pieces.return();
      };
      return { next: () => pieces.next(), return: end };
    },
  });
}

/** Throws InvalidArgumentError before anything is sent: for what is no directory, and for a repository that is elsewhere. */
export async function requireUpload(directory: string, { exclude = [] }: PackOptions = {}): Promise<void> {
  await requireDirectory(directory);
  if (!new IgnoreFile(bytesOf(exclude.join('\n'))).decides('.git', false)) await requireOwnRepository(directory);
}

type Lists = AsyncIterable<readonly Found[]> | Iterable<readonly Found[]>;

interface PackedOptions {
  /** Called with what the archive has of each, in its order; of a file, as it was when it began to be read. */
  sent?: ((found: Found) => void) | undefined;
  /** Asked at the end: paths that are removed, as an import with mode "update" has them. */
  removed?: () => Iterable<string>;
}

/** What was found, as an archive. */
export async function* packed(
  root: string,
  lists: Lists,
  { sent = () => undefined, removed = () => [] }: PackedOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  const pieces = new Pieces();
  for await (const list of lists) {
    for (const found of list) {
      if (found.type === 'file') yield* fileOf(root, found.path, pieces, sent);
      else {
        yield* pieces.add(headerOf(found));
        sent(found);
      }
    }
  }
  for (const path of removed()) yield* pieces.add(headerOf({ ...MARK, path: markOf(path) }));
  yield* pieces.add(END);
  yield* pieces.rest();
}

const MARK = { type: 'file', mode: 0o600, mtimeMs: 0, size: 0 } as const;

const markOf = (path: string): string => path.replace(/[^/]*$/, (name) => `.wh.${name}`);

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/** Not a link or FIFO that has taken its place since. */
const OPEN = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

function* fileOf(root: string, path: string, pieces: Pieces, sent: (found: Found) => void): Generator<Uint8Array> {
  const fd = unlessGone(() => openSync(join(root, path), OPEN));
  if (fd === undefined) return;
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return;
    const found = foundOf(path, 'file', stats);
    yield* pieces.add(headerOf(found));
    yield* contentsOf(fd, found, pieces);
    yield* pieces.add(padding(found.size));
    sent(found);
  } finally {
    closeSync(fd);
  }
}

/** Exactly as many bytes as the header says. */
function* contentsOf(fd: number, { path, size }: Found, pieces: Pieces): Generator<Uint8Array> {
  for (let left = size; left > 0; ) {
    const read = pieces.fill((room) => readSync(fd, room, 0, Math.min(room.length, left), null));
    if (read === 0) throw new Error(`${path} became shorter while it was read`);
    left -= read;
    yield* pieces.full();
  }
}
