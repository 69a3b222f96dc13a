import { open, stat } from 'node:fs/promises';
import { indexPath } from './workspace/delta/layer-path.ts';
import { type Header, headerOf } from './workspace/delta/records.ts';

const BLOCK = 16 * 1024;

/** The layers a delta is made of. */
export interface DeltaLayers {
  /** The one of its own, which nobody else has: written to. */
  top: string;
  /** The frozen ones it needs. */
  below: string[];
}

/** Of the delta in the directory `delta`; undefined: there is none yet. Throws when it is damaged. */
export async function layersOfDelta(delta: string): Promise<DeltaLayers | undefined> {
  const header = await readHeader(`${delta}/journal`);
  return header && { top: header[4], below: [...header[5]] };
}

/** Another one whenever the sandbox changed anything; undefined: it never did. */
export async function journalState(delta: string): Promise<string | undefined> {
  const journal = await stat(`${delta}/journal`, { bigint: true }).catch(() => undefined);
  return journal && `${journal.ino} ${journal.size} ${journal.mtimeNs}`;
}

/** All that a frozen layer needs, itself among them. Throws when it is not there or damaged. */
export async function layersOfFrozen(root: string, layer: string): Promise<string[]> {
  const header = await readHeader(indexPath(root, layer));
  if (header === undefined) throw new Error(`the frozen layer ${layer} has no index`);
  return [...header[5], layer];
}

async function readHeader(path: string): Promise<Header | undefined> {
  const handle = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (handle === undefined) return undefined;
  try {
    let text = '';
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(BLOCK), 0, BLOCK, text.length);
      text += buffer.toString('latin1', 0, bytesRead);
      const end = text.indexOf('\n');
      if (end !== -1) return headerOf([JSON.parse(text.slice(0, end))]);
      // Torn, as a killed server leaves it: nothing was written yet.
      if (bytesRead === 0) return undefined;
    }
  } finally {
    await handle.close();
  }
}
