import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createRawServer, type Server as RawServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Daemon } from '../../../../lib/runtime/docker/daemon.ts';
import { findImage } from '../../../../lib/runtime/docker/images.ts';

let directory: string;
let socketPath: string;
let server: Server | RawServer | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-fake-'));
  socketPath = join(directory, 'docker.sock');
});
afterEach(async () => {
  if (server && 'closeAllConnections' in server) server.closeAllConnections();
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  server = undefined;
  await rm(directory, { recursive: true });
});

async function answering(listener: RequestListener): Promise<void> {
  const http = createServer(listener);
  server = http;
  await new Promise<void>((resolve) => http.listen(socketPath, resolve));
}

function ping(limitMs = 5000): Promise<unknown> {
  const daemon = new Daemon({ kind: 'unix', socketPath });
  return daemon.call({ doing: 'asking', limitMs, ask: (docker) => docker.info() });
}

describe('errors of the Docker daemon', () => {
  it('is UNAVAILABLE when there is none', async () => {
    await expect(ping()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `Docker daemon at unix://${socketPath}, asking: connect ENOENT ${socketPath}`,
    });
  });

  it.each([500, 503, 403, 401, 409])('is UNAVAILABLE, in its words, when it answers %i', async (status) => {
    await answering((_, response) => response.writeHead(status).end('{"message":"no  disk\\nleft"}'));
    await expect(ping()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `Docker daemon at unix://${socketPath}, asking: no disk left`,
    });
  });

  it('is UNAVAILABLE when it accepts and answers nothing within the limit', async () => {
    await answering(() => undefined);
    await expect(ping(100)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `Docker daemon at unix://${socketPath}, asking: no answer within 0.1 s`,
    });
  });

  it('is UNAVAILABLE when it stops in the middle of an answer', async () => {
    await answering((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{', () => response.destroy());
    });
    await expect(ping(1000)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('is UNAVAILABLE if the peer is not a Docker daemon', async () => {
    const raw = createRawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n').resume());
    server = raw;
    await new Promise<void>((resolve) => raw.listen(socketPath, resolve));
    await expect(ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('keeps a very long answer out of the message', async () => {
    await answering((_, response) => response.writeHead(500).end(JSON.stringify({ message: 'x'.repeat(100_000) })));
    const error = await ping().catch((thrown: unknown) => thrown);
    expect((error as Error).message.length).toBeLessThan(700);
  });
});

describe('an image', () => {
  const limits = { callMs: 2000, pullMs: 200 };
  const find = (name: string) => findImage(new Daemon({ kind: 'unix', socketPath }), name, limits);
  const missing: RequestListener = (request, response) => {
    if (request.method === 'GET') response.writeHead(404).end('{"message":"no such image"}');
  };

  it.each([
    '',
    ' ',
    '-v',
    '--privileged',
    'a b',
    'A/b:c d',
    'a;b',
    '../a',
    'a//b',
    'http://a',
    `a${'b'.repeat(600)}`,
    'a\n',
  ])('named %j is INVALID_ARGUMENT', async (name) => {
    await expect(find(name)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^image must be the name of a container image/),
    });
  });

  it.each(['ubuntu', 'ubuntu:22.04', 'ghcr.io/a/b', 'localhost:5000/a/b-c_d:V1', `a@sha256:${'0'.repeat(64)}`])(
    'named %s is looked for',
    async (name) => {
      await answering((_, response) => response.end('{"Id":"sha256:1","Config":{"Volumes":{"/data":{}}}}'));
      expect(await find(name)).toEqual({ id: 'sha256:1', volumes: ['/data'] });
    },
  );

  it('that the daemon can neither find nor pull is NOT_FOUND, naming it and why', async () => {
    await answering((request, response) => {
      if (request.method === 'POST') response.writeHead(500).end('{"message":"dial tcp: no such host"}');
      else missing(request, response);
    });
    await expect(find('ubuntu:22.04')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/^image "ubuntu:22.04": .* dial tcp: no such host$/),
    });
  });

  it('whose pull fails half way is NOT_FOUND', async () => {
    await answering((request, response) => {
      if (request.method === 'POST') response.end('{"status":"Pulling"}\n{"error":"manifest unknown"}\n');
      else missing(request, response);
    });
    await expect(find('a')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/manifest unknown/),
    });
  });

  it('whose pull does not end is NOT_FOUND within the limit, and the daemon is told to stop', async () => {
    let closed: (value: unknown) => void;
    const hungUp = new Promise((resolve) => {
      closed = resolve;
    });
    await answering((request, response) => {
      if (request.method === 'POST') response.write('{"status":"Pulling"}\n', () => request.on('close', closed));
      else missing(request, response);
    });
    await expect(find('a')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/no answer within 0.2 s/),
    });
    await hungUp;
  });

  it('without a tag is pulled as latest alone', async () => {
    const pulled: string[] = [];
    await answering((request, response) => {
      if (request.method === 'POST') pulled.push(request.url ?? '');
      missing(request, response);
      if (request.method === 'POST') response.writeHead(500).end('{}');
    });
    await find('localhost:5000/a').catch(() => undefined);
    expect(pulled).toEqual([expect.stringContaining('fromImage=localhost%3A5000%2Fa&tag=latest')]);
  });

  it('is not pulled when the daemon is not there', async () => {
    await expect(find('a')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
