import { access, open, readdir, readFile, stat } from 'node:fs/promises';
import { ServiceError } from '../../../errors.ts';
import { errorCode, ignoreAbsent } from '../../../linux/errno.ts';
import type { WorkspaceSpec } from '../../workspaces.ts';
import { Damage } from '../damage.ts';
import { decodeHeader, type Header } from '../index/header.ts';
import { readLines } from '../index/journal-lines.ts';
import { type Marked, markedLoss, markPath, parseMark } from '../index/journal-mark.ts';
import { indexPath } from './layer-path.ts';

const BLOCK = 16 * 1024;

/** The layers of a delta. */
export interface DeltaLayers {
  /** The writable layer, which no other delta uses. */
  top: string;
  /** The frozen layers that it needs. */
  below: string[];
}

/** Returns the layers of a delta; undefined if it has no journal. Throws Damage for a damaged or lost journal. */
export async function layersOfDelta(delta: string): Promise<DeltaLayers | undefined> {
  const header = await headerOfDelta(delta);
  return header && { top: header.top, below: [...header.below] };
}

/** Returns a value that differs whenever the sandbox changed anything; undefined if it never did. */
export async function journalState(delta: string): Promise<string | undefined> {
  const journal = await stat(`${delta}/journal`, { bigint: true }).catch(ignoreAbsent);
  return journal && `${journal.ino} ${journal.size} ${journal.mtimeNs}`;
}

/** Returns all layers that a frozen layer needs, itself included. Throws Damage if it is missing or damaged. */
export async function layersOfFrozen(root: string, layer: string): Promise<string[]> {
  const read = await readHeader(indexPath(root, layer));
  if (read === undefined) throw new Damage(`the frozen layer ${layer} is missing`);
  return [...read.header.below, layer];
}

/** Whether a delta has a journal. */
export async function hasJournal(delta: string): Promise<boolean> {
  return isThere(`${delta}/journal`);
}

/**
 * Checks, before a workspace is attached, that its journal has an intact start and its full length, and that every
 * layer exists. `expected`: the delta is known to have a journal. Throws DATA_LOSS. Damage beyond that is found when it
 * is used.
 */
export async function checkDelta(
  spec: Pick<WorkspaceSpec, 'id' | 'delta' | 'layers' | 'origin'>,
  expected: boolean,
): Promise<void> {
  try {
    await requireDelta(spec, expected);
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    throw new ServiceError('DATA_LOSS', `the delta of the sandbox is damaged: ${error.message}`);
  }
}

/** As `checkDelta`, but throws Damage. */
export async function requireDelta(
  { id, delta, layers, origin }: Pick<WorkspaceSpec, 'id' | 'delta' | 'layers' | 'origin'>,
  expected: boolean,
): Promise<void> {
  const header = await headerOfDelta(delta);
  if (layers === undefined) return;
  if (header !== undefined) await requireLayers(layers, header.below);
  else if (expected || (await ownsLayers(layers, id))) throw new Damage('its journal is missing or empty');
  else if (origin !== undefined) await requireLayers(layers, await layersOfFrozen(layers, origin));
}

async function requireLayers(root: string, layers: readonly string[]): Promise<void> {
  for (const layer of layers) {
    if (!(await isThere(indexPath(root, layer)))) throw new Damage(`the frozen layer ${layer} is missing`);
  }
}

async function ownsLayers(root: string, id: string): Promise<boolean> {
  return (await readdir(root)).some((layer) => layer.startsWith(`${id}.`));
}

/** Throws if the check fails: a file that cannot be checked is not missing. */
async function isThere(path: string): Promise<boolean> {
  const found = access(path).then(() => true);
  return (await found.catch(ignoreAbsent)) ?? false;
}

async function headerOfDelta(delta: string): Promise<Header | undefined> {
  const path = `${delta}/journal`;
  // In this order: the mark describes what exists already.
  const marked = await markOf(path);
  const read = await readHeader(path);
  const loss = markedLoss(marked, read && { generation: read.header.generation, size: read.size });
  if (loss !== undefined) throw new Damage(loss);
  return read?.header;
}

async function markOf(journal: string): Promise<Marked | undefined> {
  try {
    return parseMark(await readFile(markPath(journal), 'latin1'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readHeader(path: string): Promise<{ header: Header; size: number } | undefined> {
  const handle = await open(path).catch(ignoreAbsent);
  if (handle === undefined) return undefined;
  try {
    let text = '';
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(BLOCK), 0, BLOCK, text.length);
      text += buffer.toString('latin1', 0, bytesRead);
      const end = text.indexOf('\n');
      if (end !== -1) {
        const [first = []] = readLines(text.slice(0, end + 1)).records;
        return { header: decodeHeader(first), size: (await handle.stat()).size };
      }
      // Torn, as left by a killed server: nothing was written yet.
      if (bytesRead === 0) return undefined;
    }
  } finally {
    await handle.close();
  }
}
