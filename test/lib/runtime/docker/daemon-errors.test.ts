import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createRawServer, type Server as RawServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import { containerState, createContainer } from '../../../../lib/runtime/docker/bring-up.ts';
import { containerName, INSTANCE_LABEL, SANDBOX_LABEL } from '../../../../lib/runtime/docker/container.ts';
import { Daemon } from '../../../../lib/runtime/docker/daemon.ts';
import { daemonError } from '../../../../lib/runtime/docker/errors.ts';
import { findImage } from '../../../../lib/runtime/docker/images.ts';
import { listOwn } from '../../../../lib/runtime/docker/own-containers.ts';
import { probeDaemon } from '../../../../lib/runtime/docker/probe.ts';
import { ContainerWatch } from '../../../../lib/runtime/docker/watch.ts';

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

describe('a failure of the Docker daemon', () => {
  it('is UNAVAILABLE if there is no daemon', async () => {
    await expect(ping()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `Docker daemon at unix://${socketPath}, asking: connect ENOENT ${socketPath}`,
    });
  });

  it.each([500, 503, 403, 401, 409])('is UNAVAILABLE with the daemon’s message if it answers %i', async (status) => {
    await answering((_, response) => response.writeHead(status).end('{"message":"no  disk\\nleft"}'));
    await expect(ping()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `Docker daemon at unix://${socketPath}, asking: no disk left`,
    });
  });

  it('is UNAVAILABLE if it accepts a connection but does not answer within the limit', async () => {
    await answering(() => undefined);
    await expect(ping(100)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `Docker daemon at unix://${socketPath}, asking: no answer within 0.1 s`,
    });
  });

  it.each([
    ['length', { 'content-length': '100' }],
    ['chunks', {}],
  ])(
    'is UNAVAILABLE at once if the connection is closed in the middle of an answer with %s',
    async (_name, headers) => {
      await answering((_, response) => {
        response.writeHead(200, headers);
        response.write('{', () => response.destroy());
      });
      await expect(ping(1_000_000)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: `Docker daemon at unix://${socketPath}, asking: the connection was closed before the end of the answer`,
      });
    },
  );

  it('is UNAVAILABLE if the peer is not a Docker daemon', async () => {
    const raw = createRawServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n').resume());
    server = raw;
    await new Promise<void>((resolve) => raw.listen(socketPath, resolve));
    await expect(ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('is reported without the whole of a very long answer', async () => {
    await answering((_, response) => response.writeHead(500).end(JSON.stringify({ message: 'x'.repeat(100_000) })));
    const error = await ping().catch((thrown: unknown) => thrown);
    expect((error as Error).message.length).toBeLessThan(700);
  });
});

describe('an answer of the daemon that is not as its API says', () => {
  const times = { callMs: 2000, pullMs: 2000, startMs: 2000, removeMs: 2000, retryMs: 10 };
  const daemon = () => new Daemon({ kind: 'unix', socketPath });
  const calls: Record<string, () => Promise<unknown>> = {
    'looking for an image': () => findImage(daemon(), 'a', times),
    'creating a container': () => createContainer(daemon(), { name: 'a' }, 'a', times),
    'looking for a container': () => containerState(daemon(), 'a', times),
    'listing containers': () => listOwn(daemon(), 'a', 2000),
    'asking its version': () => probeDaemon(daemon(), times, silentLog),
  };

  it.each(Object.keys(calls))('is UNAVAILABLE when %s', async (name) => {
    const bodies = ['', 'garbage', '{', 'null', '7', '{}', '[{}]', '[null]'];
    let body = '';
    await answering((_, response) => response.end(body));
    for (body of bodies) {
      const answer = calls[name]!().catch((error: unknown) => error);
      expect(await answer, body).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining(socketPath) });
    }
  });

  it('is UNAVAILABLE, and ends nothing else, when the progress of a pull is broken off, garbage, or no object', async () => {
    let progress = '';
    let cut = false;
    await answering((request, response) => {
      if (request.method === 'GET') response.writeHead(404).end('{"message":"no such image"}');
      else if (cut) response.write(progress, () => response.destroy());
      else response.end(progress);
    });
    for (progress of ['garbage\n', '{"status":"a"}\n{\n', `{"status":"${'x'.repeat(2_000_000)}`]) {
      await expect(findImage(daemon(), 'a', times), progress.slice(0, 20)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
    }
    cut = true;
    progress = '{"status":"a"}\n';
    await expect(findImage(daemon(), 'a', times)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    cut = false;
    progress = 'null\n7\n[]\n{"error":"manifest unknown"}';
    await expect(findImage(daemon(), 'a', times)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('manifest unknown'),
    });
  });

  it('is UNAVAILABLE when the connection is closed before the answer to a pull', async () => {
    await answering((request, response) => {
      if (request.method === 'GET') response.writeHead(404).end('{"message":"no such image"}');
      else request.socket.destroy();
    });
    await expect(findImage(daemon(), 'a', times)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('does not end the watch over containers, which connects again', async () => {
    const streams = ['garbage\n', 'null\n', '{"Action":"die"}\n', '{"Actor":7,"Action":"destroy"}\n'];
    const end = '{"Action":"die","Actor":{"ID":"one","Attributes":{"exitCode":"3"}}}\n';
    await answering((request, response) => {
      if (!request.url?.includes('/events')) {
        const Names = [`/${containerName('mine', 'sb_1')}`];
        response.end(JSON.stringify([{ Id: 'one', Names, Labels: { [SANDBOX_LABEL]: 'sb_1' }, State: 'running' }]));
      } else response.end(streams.shift() ?? end);
    });
    const watch = new ContainerWatch(daemon(), 'mine', times, silentLog);
    const ended = await new Promise((resolve) => watch.add('one', resolve));
    expect(ended).toEqual({ reason: 'its container ended with exit code 3', exitCode: 3 });
    expect(streams).toEqual([]);
  });
});

describe('a container of the same name', () => {
  const times = { callMs: 2000, pullMs: 2000, startMs: 30_000, removeMs: 2000, retryMs: 10 };

  it('is removed by its id, and its removal in progress is waited for', async () => {
    const asked: string[] = [];
    const Labels = { [INSTANCE_LABEL]: 'mine' };
    let conflicts = 3;
    await answering((request, response) => {
      const { method, url = '' } = request;
      const path = url.replace(/\?.*/, '');
      asked.push(`${method} ${path}`);
      if (method === 'DELETE') response.writeHead(409).end('{"message":"removal is already in progress"}');
      else if (method === 'GET') response.end(JSON.stringify({ Id: 'old', Config: { Labels } }));
      else if (conflicts-- > 0) response.writeHead(409).end('{"message":"the name is in use"}');
      else response.writeHead(201).end('{"Id":"new"}');
    });
    const daemon = new Daemon({ kind: 'unix', socketPath });
    expect(await createContainer(daemon, { name: 'name', Labels }, 'image', times)).toBe('new');
    const attempt = ['POST /containers/create', 'GET /containers/name/json', 'DELETE /containers/old'];
    expect(asked).toEqual([...attempt, ...attempt, ...attempt, 'POST /containers/create']);
  });
});

it('a connection for which this process has no descriptor is RESOURCE_EXHAUSTED', () => {
  const error = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE', syscall: 'connect' });
  expect(daemonError(error, { address: 'unix:///a', doing: 'asking' })).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
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
    'named %s is requested from the daemon',
    async (name) => {
      await answering((_, response) => response.end('{"Id":"sha256:1","Config":{"Volumes":{"/data":{}}}}'));
      expect(await find(name)).toEqual({ id: 'sha256:1', volumes: ['/data'] });
    },
  );

  it('that the daemon can neither find nor pull is NOT_FOUND with its name and the reason', async () => {
    await answering((request, response) => {
      if (request.method === 'POST') response.writeHead(500).end('{"message":"dial tcp: no such host"}');
      else missing(request, response);
    });
    await expect(find('ubuntu:22.04')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/^image "ubuntu:22.04": .* dial tcp: no such host$/),
    });
  });

  it('whose pull fails midway is NOT_FOUND', async () => {
    await answering((request, response) => {
      if (request.method === 'POST') response.end('{"status":"Pulling"}\n{"error":"manifest unknown"}\n');
      else missing(request, response);
    });
    await expect(find('a')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringMatching(/manifest unknown/),
    });
  });

  it('whose pull does not end is NOT_FOUND within the limit, and the request to the daemon is aborted', async () => {
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

  it('without a tag is pulled with the tag latest only', async () => {
    const pulled: string[] = [];
    await answering((request, response) => {
      if (request.method === 'POST') pulled.push(request.url ?? '');
      missing(request, response);
      if (request.method === 'POST') response.writeHead(500).end('{}');
    });
    await find('localhost:5000/a').catch(() => undefined);
    expect(pulled).toEqual([expect.stringContaining('fromImage=localhost%3A5000%2Fa&tag=latest')]);
  });

  it('is not pulled if the daemon is not reachable', async () => {
    await expect(find('a')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
