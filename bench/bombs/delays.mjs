/** Measures the delays of the two threads that all sandboxes share: the main thread and the request worker. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';

const PATIENCE_MS = 60_000;

/** Returns the environment for a server whose main thread is measured. */
export function measuredEnvironment(directory) {
  const preload = new URL('event-loop.mjs', import.meta.url).href;
  return { NODE_OPTIONS: `--import=${preload}`, PADDOCK_BENCH_DELAYS: fileIn(directory) };
}

/** Returns the delay of the main thread's event loop since the last call: p99 and maximum in ms. */
export async function loopDelay(server, directory) {
  const before = toldIn(directory)?.told ?? 0;
  process.kill(server.pid, 'SIGUSR2');
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const told = toldIn(directory);
    if (told && told.told > before) return told;
    if (Date.now() > deadline) throw new Error('the server does not report the delay of its event loop');
    await new Promise((done) => setTimeout(done, 5));
  }
}

/** Returns the duration in ms of one request to the request worker: a lookup of a new name, which no cache answers. */
export async function requestDelay(mountPoint) {
  const began = performance.now();
  await lstat(join(mountPoint, randomBytes(8).toString('hex'))).catch(() => {});
  return performance.now() - began;
}

/** Returns the mount point of the file system of the server with this storage.mount_path. */
export function mountPointOf(mountPath) {
  const name = createHash('sha256').update(mountPath).digest('hex').slice(0, 16);
  const places = [join(mountPath, 'fs'), `/run/paddock/workspaces-${name}`];
  const mounted = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1]);
  const found = places.find((place) => mounted.includes(place));
  if (!found) throw new Error('the workspace file system is not mounted');
  return found;
}

const fileIn = (directory) => join(directory, 'delays.json');

function toldIn(directory) {
  try {
    return JSON.parse(readFileSync(fileIn(directory), 'utf8'));
  } catch {
    return undefined;
  }
}
