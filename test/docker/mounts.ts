import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Mount points at and below `directory`, deepest first. */
export async function mountsUnder(directory: string): Promise<string[]> {
  const table = await readFile('/proc/self/mounts', 'utf8');
  return table
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replace(/\\040/g, ' '))
    .filter((point) => point === directory || point.startsWith(`${directory}/`))
    .reverse();
}

export async function unmount(mountPoint: string): Promise<void> {
  await promisify(execFile)('umount', ['-l', mountPoint]);
}
