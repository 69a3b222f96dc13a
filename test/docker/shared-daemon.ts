import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { type Daemon, startDaemon } from './daemon.ts';
import { importImage } from './images.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sharedDaemonSocket: string;
  }
}

/** The image of the shared daemon. It contains this machine's programs, because no registry is reachable. */
export const SHARED_IMAGE = 'machine:1';

/**
 * One daemon with `SHARED_IMAGE` for all test files of a run, started at the first request. Several servers use it at
 * the same time. Tests that stop, kill or configure a daemon start one of their own.
 */
export interface SharedDaemon {
  /** Unix socket that answers a connection with the daemon's host, or with nothing if the daemon cannot be started. */
  socket: string;
  stop(): Promise<void>;
}

/** For the global setup, whose process lives as long as the run. */
export async function offerSharedDaemon(): Promise<SharedDaemon> {
  const directory = await mkdtemp(join(tmpdir(), 'paddock-shared-docker-'));
  const socket = join(directory, 'socket');
  let starting: Promise<Daemon> | undefined;
  const server = createServer((connection) => {
    // containerd can take longer on a busy disk than dockerd waits for it.
    starting ??= startWithImage().catch(startWithImage);
    starting.then(
      ({ host }) => connection.end(host),
      (error) => {
        process.stderr.write(`the shared Docker daemon does not start: ${String(error)}\n`);
        connection.end();
      },
    );
    connection.on('error', () => undefined);
  });
  server.listen(socket);
  await once(server, 'listening');
  return {
    socket,
    async stop() {
      server.close();
      await starting?.then(
        (daemon) => daemon.stop(),
        () => undefined,
      );
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startWithImage(): Promise<Daemon> {
  const daemon = await startDaemon();
  try {
    await importImage(daemon.docker, SHARED_IMAGE);
    return daemon;
  } catch (error) {
    await daemon.stop();
    throw error;
  }
}

/** For a test: the host of the shared daemon, for `runtime.docker.host`. */
export async function sharedDockerHost(): Promise<string> {
  const host = await text(connect(inject('sharedDaemonSocket')));
  if (host === '') throw new Error('the shared Docker daemon does not start: the output of the run tells why');
  return host;
}
