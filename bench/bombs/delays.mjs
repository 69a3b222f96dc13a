/** How long the two threads that everybody waits for keep others waiting. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';

const PATIENCE_MS = 60_000;

/** The environment of a server whose main thread is to be measured. */
export function measuredEnvironment(directory) {
  const preload = new URL('event-loop.mjs', import.meta.url).href;
  return { NODE_OPTIONS: `--import=${preload}`, PADDOCK_BENCH_DELAYS: fileIn(directory) };
}

/** The event loop of the main thread since the last call: p99 and most, in ms, beyond being in time. */
export async function loopDelay(server, directory) {
  const before = toldIn(directory)?.told ?? 0;
  process.kill(server.pid, 'SIGUSR2');
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const told = toldIn(directory);
    if (told && told.told > before) return told;
    if (Date.now() > deadline) throw new Error('the server does not tell of its event loop');
    await new Promise((done) => setTimeout(done, 5));
  }
}

/** Milliseconds of one request to the request worker that the kernel cannot answer: a name that nobody ever asked for. */
export async function requestDelay(mountPoint) {
  const began = performance.now();
  await lstat(join(mountPoint, randomBytes(8).toString('hex'))).catch(() => {});
  return performance.now() - began;
}

/** Where the server with this storage.mount_path has its file system mounted. */
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
