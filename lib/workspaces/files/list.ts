import { type ByteString, joinPath, NO_BYTES, sliceOf, withSlash } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { EACCES, ENOTDIR } from '../../linux/errno.ts';
import { isDirectory } from '../../linux/mode.ts';
import { PageRoom } from '../../paging.ts';
import { VIEW } from '../../permissions/index.ts';
import { isVisible, isVisibleNode } from '../access/visibility.ts';
import type { Node } from '../nodes/node.ts';
import { findingForm, isRedacted } from '../redacted/redacted-file.ts';
import { sorted } from '../sorted.ts';
import type { FileStatus } from '../workspace-files.ts';
import { type FileRequest, MAY_PASS, MAY_READ } from './file-request.ts';
import { statusOf } from './status.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 64;
/** Entries visited in one step. */
const ENTRIES_PER_STEP = 16;

/** A directory that is being listed. A key is a name, or for the position of its contents a name and a slash. */
interface Frame {
  dir: Node;
  path: ByteString;
  keys: IterableIterator<ByteString>;
  /** The last key that was returned; more keys follow `keys` if `cut` is set. */
  last: ByteString;
  cut: boolean;
}

/** Returns the entries of a page, at most `limit`; see `visit`. */
export function* list(
  request: FileRequest,
  path: ByteString,
  recursive: boolean,
  after: ByteString,
  limit: number,
): Steps<{ entries: FileStatus[]; more: boolean }> {
  const entries: FileStatus[] = [];
  const room = new PageRoom();
  const more = yield* visit(request, path, { recursive, after, about: limit }, (node, at) => {
    const status = entries.length < limit ? statusOf(request, node, at) : undefined;
    if (status === undefined || !room.fits(status)) return false;
    entries.push(status);
    return true;
  });
  return { entries, more };
}

/**
 * Visits entries in byte order of whole paths: a directory, then what sorts between its name and a slash, then its
 * contents. `after`: the path to begin after; `about`: how many entries will be taken. Ends when `take` refuses one, and
 * returns whether it did. Throws ENOTDIR, and EACCES if the top directory must not be read; such a directory below is
 * visited without its contents. The caller holds the workspace from the first step to the last.
 */
export function* visit(
  request: FileRequest,
  path: ByteString,
  { recursive, after, about }: { recursive: boolean; after: ByteString; about: number },
  take: (node: Node, path: ByteString) => boolean,
): Steps<boolean> {
  const top = request.find(path, true);
  if (!top.isDirectory) throw ENOTDIR;
  request.require(top, MAY_READ | MAY_PASS);
  const open = (dir: Node, at: ByteString) => fill({ dir, path: at, keys: [].values(), last: NO_BYTES, cut: true });
  const counter = new StepCounter(ENTRIES_PER_STEP);
  const fill = function* (frame: Frame): Steps<Frame> {
    const { keys, cut } = yield* keysOf(request, frame, recursive, after, 2 * about + 2);
    return Object.assign(frame, { keys: keys.values(), cut });
  };
  const stack = [yield* open(top, path)];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (counter.count()) yield;
    const { done, value: key } = frame.keys.next();
    if (done) {
      if (frame.cut) yield* fill(frame);
      else stack.pop();
      continue;
    }
    frame.last = key;
    const descend = key.endsWith('/');
    const name = descend ? sliceOf(key, 0, -1) : key;
    const node = request.child(frame.dir, name);
    const at = joinPath(frame.path, name);
    if (node === undefined || !isVisibleNode(request.access, node)) continue;
    if (descend) {
      if (node.isDirectory && mayList(request, node)) stack.push(yield* open(node, at));
      continue;
    }
    if (isRedacted(request.access, node)) yield* findingForm(request.workspace, node);
    if (!take(node, at)) return true;
  }
  return false;
}

/** The next `count` keys of a directory. Only these are sorted, as the directory may be large. */
function* keysOf(
  { workspace, access }: FileRequest,
  { dir, path, last }: Frame,
  recursive: boolean,
  after: ByteString,
  count: number,
): Steps<{ keys: ByteString[]; cut: boolean }> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  let keys: ByteString[] = [];
  let cut = false;
  const take = (key: ByteString) => {
    if (key > last) keys.push(key);
  };
  const allVisible = (access.shownRule(dir).uniformBelow ?? 0) >= VIEW;
  const listing = yield* workspace.stored.listings.listing(dir);
  for (const { name, type } of listing.values()) {
    if (counter.count()) yield;
    const directory = isDirectory(type);
    if (!allVisible && !isVisible(access.ruleOf(dir, name), directory)) continue;
    const at = joinPath(path, name);
    if (at > after) take(name);
    const below = recursive && directory ? withSlash(at) : undefined;
    if (below !== undefined && (below > after || after.startsWith(below))) take(withSlash(name));
    if (keys.length < 2 * count) continue;
    keys = firstOf(yield* sorted(keys), count);
    cut = true;
  }
  const rest = yield* sorted(keys);
  if (rest.length > count) cut = true;
  return { keys: firstOf(rest, count), cut };
}

function firstOf(keys: Iterable<ByteString>, count: number): ByteString[] {
  const first: ByteString[] = [];
  for (const key of keys) {
    if (first.length === count) break;
    first.push(key);
  }
  return first;
}

/** Whether the contents of a directory may be listed; others are skipped, as by find(1). */
function mayList(request: FileRequest, dir: Node): boolean {
  try {
    request.require(dir, MAY_READ | MAY_PASS);
    return true;
  } catch (error) {
    if (error === EACCES) return false;
    throw error;
  }
}
