import { type FileHandle, open } from 'node:fs/promises';

/** Bytes that are read: a process chooses how long its command line is. */
const MOST_BYTES = 4096;

/** The last look. Never rejects. */
let last: Promise<unknown> = Promise.resolve();

/**
 * The beginning of the command line of a process, with a NUL after each argument; empty if there is no such process. See
 * proc_pid_cmdline(5).
 *
 * The kernel has the reader wait for the process's memory map, and that may wait for its file system, which the server serves. So
 * it is never read by the main thread, and one at a time: a look occupies one thread of the pool, which others need.
 */
export function commandLine(pid: number): Promise<string> {
  const looked = last.then(() => look(pid));
  last = looked;
  return looked;
}

async function look(pid: number): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(`/proc/${pid}/cmdline`);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(MOST_BYTES), 0, MOST_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } catch {
    return '';
  } finally {
    await file?.close();
  }
}
