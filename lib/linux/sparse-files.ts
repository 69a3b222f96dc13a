import { spawn, spawnSync } from 'node:child_process';
import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { constants } from 'node:os';

/** Unit of st_blocks in bytes. */
const SECTOR = 512;
/** Largest file that this process copies itself, in bytes: it reads the zeros of the holes. */
const SMALL = 4 << 20;
/** Blocks of zeros are not written. */
const BLOCK = 4096;
const ZEROS = Buffer.alloc(BLOCK);
const PART = 256 * 1024;

/** cp(1) asks the file system where the holes are, which Node cannot. Its descriptors 3 and 4 are those of `stdio`. */
const CP = ['--sparse=auto', '--reflink=auto', '--', '/proc/self/fd/3', '/proc/self/fd/4'];
/** Without a locale: what cp says of a failure is read. */
const OPTIONS = { cwd: '/', env: {} };

/** Bytes of a file that its file system does not store, because nothing was ever written there. */
export function holesIn({ size, blocks }: { size: bigint; blocks: bigint }): number {
  return Math.max(0, Number(size) - Number(blocks) * SECTOR);
}

/** Bytes of a file that its file system stores, not more than its size. */
export function storedIn(stat: { size: bigint; blocks: bigint }): number {
  return Number(stat.size) - holesIn(stat);
}

/** Copies an open file with holes to an empty open one, and keeps the holes. Throws as a system call. */
export function copySparse(from: number, to: number): void {
  const { size } = fstatSync(from);
  if (size <= SMALL) {
    copyData(from, to, size);
    return;
  }
  const { status, stderr } = spawnSync('cp', CP, { ...OPTIONS, stdio: ['ignore', 'ignore', 'pipe', from, to] });
  if (status !== 0) throw failure(stderr?.toString('latin1') ?? '');
}

/** As `copySparse`, of a file of any size, without holding the thread. */
export async function copySparseInBackground(from: number, to: number): Promise<void> {
  const child = spawn('cp', CP, { ...OPTIONS, stdio: ['ignore', 'ignore', 'pipe', from, to] });
  let said = '';
  child.stderr?.setEncoding('latin1').on('data', (text: string) => {
    said = (said + text).slice(-1000);
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (status !== 0) throw failure(said);
}

/** Copies the blocks that are not zero. */
function copyData(from: number, to: number, size: number): void {
  const part = Buffer.allocUnsafe(Math.min(PART, size));
  for (let at = 0; at < size; ) {
    const length = readSync(from, part, 0, Math.min(PART, size - at), at);
    if (length === 0) break;
    for (let block = 0; block < length; block += BLOCK) {
      const bytes = part.subarray(block, Math.min(block + BLOCK, length));
      if (!isZero(bytes)) writeWhole(to, bytes, at + block);
    }
    at += length;
  }
  ftruncateSync(to, size);
}

/** Whether at most a block of bytes is zero. */
export function isZero(bytes: Buffer): boolean {
  return ZEROS.compare(bytes, 0, bytes.length, 0, bytes.length) === 0;
}

function writeWhole(to: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(to, bytes, done, bytes.length - done, position + done);
}

/** As of a failed system call. What cp has said is the only trace of the errno. */
function failure(said: string): Error {
  const full = said.includes('No space left') ? 'ENOSPC' : 'EIO';
  const code = said.includes('quota exceeded') ? 'EDQUOT' : full;
  return Object.assign(new Error(`${code}: ${said.trim()}`), { code, errno: -constants.errno[code] });
}
