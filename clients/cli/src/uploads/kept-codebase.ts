import { realpathSync } from 'node:fs';
import { ConflictError, InvalidArgumentError, NotFoundError, type Paddock } from 'paddock-sandbox';
import { type Found, packed, type Walked, type WalkOptions, walked } from 'paddock-sandbox/local';
import type { Output } from '../output/output.ts';
import { differenceOf } from './difference.ts';
import { keyOf, type Upload, type UploadRecord, UploadRecords } from './records.ts';

/** Codebases that wait for the next run, and how long without a run. */
const MOST_KEPT = 4;
const KEPT_MS = 7 * 24 * 3600 * 1000;

interface KeptCall {
  paddock: Paddock;
  out: Output;
  signal: AbortSignal;
  /** Directory of the local server. */
  state: string;
}

interface KeptOptions {
  options: WalkOptions;
  name: string;
  /** Before everything is sent to a new codebase. */
  validate(codebaseId: string): Promise<void>;
}

/**
 * The codebase of a local directory: that of an earlier run with what was changed since, or a new one with everything.
 * Nothing else uses it until the record is given back.
 */
export async function keptCodebase(
  call: KeptCall,
  directory: string,
  { options, name, validate }: KeptOptions,
): Promise<UploadRecord> {
  const records = new UploadRecords(call.state);
  const at = Date.now();
  const now = await walked(directory, options, call.signal);
  const key = keyOf(realpathSync(directory), options);
  const kept = records.take(key);
  if (kept && (await update(call, kept, { directory, now, at }))) return kept;
  const { id } = await call.paddock.codebases.create({ name });
  const record = records.begin(key, id);
  try {
    await validate(id);
    await sendAll(call, record, { directory, now, at });
    return record;
  } catch (error) {
    await call.paddock.codebases.delete(id).then(
      () => record.forget(),
      () => undefined,
    );
    throw error;
  }
}

interface Source {
  directory: string;
  now: Walked;
  /** Before `now`. */
  at: number;
}

async function sendAll(call: KeptCall, record: UploadRecord, { directory, now, at }: Source): Promise<void> {
  const found = new Map<string, Found>();
  const progress = call.out.progress('uploading');
  const sent = (each: Found) => {
    found.set(each.path, each);
    progress.file(now.found.size);
  };
  const body = () => {
    found.clear();
    return progress.count(packed(directory, now.lists, { sent }));
  };
  const { paddock, signal } = call;
  const { revision } = await paddock.codebases.upload(record.codebaseId, body, { mode: 'replace', signal });
  record.write({ revision, snapshot: { at, found } });
}

/** False: it cannot be used. */
async function update(call: KeptCall, record: UploadRecord, source: Source): Promise<boolean> {
  try {
    const before = record.read();
    if (before && (await isUnchanged(call, record, before)) && (await sendChanges(call, record, before, source)))
      return true;
  } catch (error) {
    // It is gone, somebody else has changed it, or an archive cannot say what was changed.
    if (!(error instanceof NotFoundError || error instanceof ConflictError || error instanceof InvalidArgumentError))
      throw error;
    if (error instanceof ConflictError) record.forget();
  }
  await deleteOwn(call.paddock, record);
  return false;
}

/** Nobody has changed it since, and no sandbox shows it. */
async function isUnchanged({ paddock, signal }: KeptCall, { codebaseId }: UploadRecord, { revision }: Upload) {
  const codebase = await paddock.codebases.get(codebaseId, { signal });
  if (codebase.revision !== revision) return false;
  for await (const _ of paddock.sandboxes.list({ codebaseId, signal })) return false;
  return true;
}

/** False: an archive cannot say what was changed. */
async function sendChanges(
  call: KeptCall,
  record: UploadRecord,
  { revision: ifRevision, snapshot }: Upload,
  { directory, now, at }: Source,
): Promise<boolean> {
  const { changed, removed } = differenceOf(now, snapshot);
  if (changed.length + removed.length === 0) return true;
  const all = changed.flat();
  if (all.some(({ path }) => /(^|\/)\.wh\.[^/]*$/.test(path))) return false;
  const found = new Map(now.found);
  const gone = new Set<string>();
  const progress = call.out.progress('uploading changes');
  const sent = (each: Found) => {
    found.set(each.path, each);
    gone.delete(each.path);
    progress.file(all.length);
  };
  // What vanishes while it is read is not there, as if it had never been.
  const vanished = () => [...gone].filter((path) => snapshot.found.has(path));
  const body = () => {
    for (const { path } of all) gone.add(path);
    return progress.count(packed(directory, changed, { sent, removed: () => [...removed, ...vanished()] }));
  };
  record.clear();
  const options = { mode: 'update', ifRevision, signal: call.signal } as const;
  const { revision } = await call.paddock.codebases.upload(record.codebaseId, body, options);
  for (const path of gone) found.delete(path);
  record.write({ revision, snapshot: { at, found } });
  return true;
}

/** Deletes the codebases that no run waits for, and those of runs that were killed. Never rejects. */
export async function deleteOld({ paddock, state }: Pick<KeptCall, 'paddock' | 'state'>): Promise<void> {
  for (const record of new UploadRecords(state).takeOld(MOST_KEPT, KEPT_MS)) await deleteOwn(paddock, record);
}

/** Unless somebody else has changed it: then it is theirs. One that sandboxes use is left for a later run. */
async function deleteOwn(paddock: Paddock, record: UploadRecord): Promise<void> {
  const { codebaseId } = record;
  try {
    const known = record.read();
    const isOwn = known === undefined || (await paddock.codebases.get(codebaseId)).revision === known.revision;
    if (isOwn) await paddock.codebases.delete(codebaseId);
    record.forget();
  } catch (error) {
    if (error instanceof NotFoundError) record.forget();
  }
}
