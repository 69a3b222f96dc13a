import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SHARED_IMAGE, sharedDockerHost } from '../../../docker/shared-daemon.ts';
import { ERRNOS, type ErrnoName, hostCalls } from '../faults/host-calls.ts';
import { openScene, type Scene, sh } from './sandbox.ts';

vi.mock('node:fs', async (original) => {
  const { hostCalls } = await import('../faults/host-calls.ts');
  return hostCalls.wrap(await original<typeof import('node:fs')>());
});

const TIMES = { callMs: 2000, pullMs: 2000, startMs: 8000, removeMs: 8000, retryMs: 50 };
const TOLD = /^(RESOURCE_EXHAUSTED|UNAVAILABLE)$/;

/** What happens to a request to the daemon instead of, or before, its answer. */
const FAULTS: Record<string, (response: ServerResponse) => void> = {
  'closed before the answer': (response) => void response.destroy(),
  'answered 500': (response) => void response.writeHead(500).end('{"message":"injected"}'),
  'answered with garbage': (response) => void response.end('garbage'),
};

let socketPath: string;
let docker: Dockerode;
let scene: Scene;
let proxy: ReturnType<typeof createServer>;
/** Counts requests of a launch down; at 0 `fault` happens. */
let left = 0;
let seen: string[] = [];
let fault: ((response: ServerResponse) => void) | undefined;

beforeAll(async () => {
  socketPath = (await sharedDockerHost()).replace('unix://', '');
  docker = new Dockerode({ socketPath, ...({ host: undefined } as object) });
  scene = await openScene({ host: await startProxy() }, { times: TIMES });
});
afterEach(() => {
  fault = undefined;
});
afterAll(async () => {
  await scene.end();
  proxy.closeAllConnections();
  proxy.close();
});

async function startProxy(): Promise<string> {
  // The client repeats the options of a new container in the query.
  proxy = createServer({ maxHeaderSize: 1 << 20 }, (request, response) => {
    seen.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`);
    if (fault !== undefined && --left === 0) fault(response);
    else forward(request, response);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return `tcp://127.0.0.1:${(proxy.address() as { port: number }).port}`;
}

function forward(request: IncomingMessage, response: ServerResponse): void {
  const { method, url: path, headers } = request;
  const onward = httpRequest({ socketPath, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    response.flushHeaders();
    answer.pipe(response).on('close', () => answer.destroy());
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}

async function launched(): Promise<{ id: string; runDir: string; error?: string }> {
  const spec = await scene.spec({ image: SHARED_IMAGE });
  try {
    const sandbox = await scene.runtime.launch(spec);
    // What is injected may meet the command instead of the launch: then the sandbox is left to its caller.
    await sh(sandbox, 'echo up')
      .then(({ stdout }) => expect(stdout).toBe('up\n'))
      .finally(() => sandbox.stop());
    return spec;
  } catch (error) {
    const { code, message, stack } = error as { code: string; message: string; stack: string };
    expect(code, stack).toMatch(TOLD);
    return { ...spec, error: `${code} ${message}` };
  }
}

/** Directories, cgroups and the container of a launch; the daemon may take a moment for the latter. */
async function expectNothingLeft({ id, runDir }: { id: string; runDir: string }, at: string): Promise<void> {
  expect(existsSync(runDir), at).toBe(false);
  const instance = readFileSync(join(scene.directory, 'state', 'docker-instance'), 'latin1').trim();
  // The programs are shared by all sandboxes.
  expect(readdirSync(`/run/paddock/docker-${instance}`), at).toEqual(['fifos', 'programs']);
  const filters = { name: [id] };
  await expect
    .poll(async () => (await docker.listContainers({ all: true, filters })).length, { timeout: 30_000, message: at })
    .toBe(0);
}

describe('a failure during the launch of a sandbox in a container', () => {
  it('of a request to the daemon fails that launch, leaves nothing, and the next one works', async () => {
    seen = [];
    expect((await launched()).error).toBeUndefined();
    const requests = seen.length;
    expect(requests).toBeGreaterThan(4);
    const faults = Object.entries(FAULTS);
    for (let nth = 1; nth <= requests; nth++) {
      const [name, happens] = faults[nth % faults.length]!;
      seen = [];
      left = nth;
      fault = happens;
      const outcome = await launched();
      fault = undefined;
      await expectNothingLeft(outcome, `${name}: ${seen[nth - 1]}`);
    }
    expect((await launched()).error).toBeUndefined();
  });

  it('of a call to the file system fails that launch, leaves nothing, and the next one works', async () => {
    hostCalls.record();
    expect((await launched()).error).toBeUndefined();
    const calls = hostCalls.recorded('/runtime/docker/');
    expect(calls.length).toBeGreaterThan(4);
    for (const [index, nth] of calls.entries()) {
      hostCalls.arm(nth, ERRNOS[index % ERRNOS.length] as ErrnoName);
      const outcome = await launched();
      const at = hostCalls.disarm();
      await expectNothingLeft(outcome, at);
    }
    expect((await launched()).error).toBeUndefined();
  });
});
