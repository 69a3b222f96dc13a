import { basename, dirname } from 'node:path';
import { errorCode } from '../linux/errno.ts';
import { DurableFile, type FileSystem } from './durable-file.ts';
import { type Frame, isTorn, parseFrame } from './frames.ts';
import { type Line, readLines } from './read-lines.ts';
import { SharedValues } from './shared-values.ts';
import { readSnapshot } from './snapshot.ts';
import { applyStored, DamagedError, type State } from './state.ts';

type Files = Pick<FileSystem, 'open' | 'readFile' | 'readdir'>;

/** The records of the disk: a snapshot, and the changes since then from the segments of the log. */
export interface Loaded {
  state: State;
  /** Of a server without a log. */
  isOld: boolean;
  /** The newest segment: number, the last change before it, and whether it has any. */
  last: { log: number; sequence: number; isEmpty: boolean };
  /** The oldest segment that the snapshot needs. */
  firstLog: number;
  snapshotBytes: number;
  logBytes: number;
  segments: number;
  /** What a crash left of a write that nobody was told of. */
  torn: { path: string; offset: number } | undefined;
}

interface Segment {
  readonly log: number;
  readonly path: string;
  /** The number of the last change before it. */
  readonly after: number;
}

export function segmentPath(path: string, log: number): string {
  return `${path}.log.${log}`;
}

/** The numbers of the segments beside the metadata file `path`, ascending. */
export async function segmentsOf(path: string, fileSystem: Pick<FileSystem, 'readdir'>): Promise<number[]> {
  const prefix = `${basename(path)}.log.`;
  const numbers = (await fileSystem.readdir(dirname(path)))
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,14}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)));
  return numbers.sort((a, b) => a - b);
}

/**
 * Reads the metadata in the file `path` with its log, without changing anything. undefined: there is none. Throws
 * DamagedError.
 */
export async function loadMetadata(path: string, files: Files): Promise<Loaded | undefined> {
  const logs = await segmentsOf(path, files);
  const snapshot = await readSnapshot(path, files).catch((error) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (snapshot === undefined) {
    const isFirst = await onlyEmpty(path, logs, files);
    if (isFirst && !(await new DurableFile(path, files as FileSystem).hasBackup())) return undefined;
    throw new DamagedError('is missing');
  }
  const { state, position, bytes } = snapshot;
  if (position === undefined) {
    // A server without a log does not start on one with a log, so these are not of the same state.
    if (!(await onlyEmpty(path, logs, files))) {
      throw new DamagedError(
        `is of an older server, but there is a log beside it (${segmentPath(path, logs.at(-1)!)})`,
      );
    }
    const last = { log: 0, sequence: 0, isEmpty: true };
    return { state, isOld: true, last, firstLog: 1, snapshotBytes: bytes, logBytes: 0, segments: 0, torn: undefined };
  }
  const segments: Segment[] = [];
  for (const log of logs.filter((each) => each >= position.log)) segments.push(await segmentAt(path, log, files));
  requireUnbroken(segments, position, path);
  const loaded: Loaded = {
    state,
    isOld: false,
    last: { log: position.log, sequence: position.sequence, isEmpty: true },
    firstLog: position.log,
    snapshotBytes: bytes,
    logBytes: 0,
    segments: segments.length,
    torn: undefined,
  };
  for (const [index, segment] of segments.entries()) await readSegment(segment, segments[index + 1], loaded, files);
  return loaded;
}

/** What the end of the first start of a server may leave: a segment without a change. */
async function onlyEmpty(path: string, logs: readonly number[], files: Files): Promise<boolean> {
  for (const log of logs) {
    let lines = 0;
    await readLines(segmentPath(path, log), files, () => ++lines < 2);
    if (log !== 1 || lines > 1) return false;
  }
  return true;
}

async function segmentAt(path: string, log: number, files: Files): Promise<Segment> {
  const at = segmentPath(path, log);
  let first: Frame | undefined;
  await readLines(at, files, (line) => {
    first = parseFrame(line);
    return false;
  });
  if ((first?.payload as { log?: unknown } | undefined)?.log !== log) {
    throw new DamagedError('is damaged at byte 0', at);
  }
  return { log, path: at, after: first!.sequence };
}

function requireUnbroken(
  segments: readonly Segment[],
  { log, sequence }: { log: number; sequence: number },
  path: string,
) {
  for (const [index, segment] of segments.entries()) {
    if (segment.log !== log + index) throw new DamagedError('is missing', segmentPath(path, log + index));
  }
  const [first] = segments;
  if (first === undefined) throw new DamagedError('is missing', segmentPath(path, log));
  if (first.after !== sequence) {
    throw new DamagedError(`begins after change ${first.after}, but the snapshot has ${sequence}`, first.path);
  }
}

/**
 * Makes the changes of a segment. What follows the last change before `next` was not acknowledged: the write failed, or
 * the server ended.
 */
async function readSegment(segment: Segment, next: Segment | undefined, loaded: Loaded, files: Files): Promise<void> {
  const { path, after } = segment;
  let sequence = after;
  let torn: Line | undefined;
  const shared = new SharedValues();
  const damaged = (offset: number) => new DamagedError(`is damaged at byte ${offset}`, path);
  const bytes = await readLines(path, files, (line) => {
    if (line.offset === 0) return true;
    if (next !== undefined && sequence >= next.after) return false;
    if (torn !== undefined) throw damaged(torn.offset);
    const frame = parseFrame(line);
    if (frame === undefined && next === undefined && isTorn(line)) {
      torn = line;
      return true;
    }
    if (frame?.sequence !== sequence + 1 || !Array.isArray(frame.payload)) throw damaged(line.offset);
    for (const change of frame.payload) applyStored(loaded.state, change, shared);
    sequence = frame.sequence;
    return true;
  });
  if (next !== undefined && sequence !== next.after) {
    throw new DamagedError(`ends after change ${sequence} at byte ${bytes}, before change ${next.after}`, path);
  }
  loaded.last = { log: segment.log, sequence, isEmpty: sequence === after };
  loaded.logBytes += bytes;
  loaded.torn = torn && { path, offset: torn.offset };
}
