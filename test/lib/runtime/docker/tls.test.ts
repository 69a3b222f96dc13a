import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daemonAddress } from '../../../../lib/runtime/docker/address.ts';
import { Daemon } from '../../../../lib/runtime/docker/daemon.ts';
import { makeCertificates } from '../../../docker/certificates.ts';
import { type Daemon as PrivateDaemon, startDaemon } from '../../../docker/daemon.ts';

let directory: string;
let certificates: { server: string; client: string };
let port: number;
let dockerd: PrivateDaemon;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-tls-'));
  certificates = await makeCertificates(directory);
  port = await freePort();
  const files = (['ca', 'cert', 'key'] as const).map(
    (file) => `--tls${file === 'ca' ? 'cacert' : file}=${join(certificates.server, `${file}.pem`)}`,
  );
  dockerd = await startDaemon({
    ownNetwork: false,
    args: ['--host', `tcp://127.0.0.1:${port}`, '--tlsverify', ...files],
  });
});
afterAll(async () => {
  await dockerd?.stop();
  await rm(directory, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function version(host: string, environment: Record<string, string>): Promise<{ ApiVersion: string }> {
  const daemon = new Daemon(daemonAddress(host, environment));
  return daemon.call({ doing: 'asking', limitMs: 5000, ask: (docker) => docker.version() });
}

describe('a Docker daemon behind TLS', () => {
  it('serves a client with a certificate of its CA', async () => {
    const environment = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: certificates.client };
    const expected = { ApiVersion: expect.stringMatching(/^1\.\d+$/) };
    expect(await version(`tcp://127.0.0.1:${port}`, environment)).toMatchObject(expected);
    expect(await version('', { ...environment, DOCKER_HOST: `tcp://127.0.0.1:${port}` })).toMatchObject(expected);
  });

  it('is UNAVAILABLE without TLS', async () => {
    await expect(version(`tcp://127.0.0.1:${port}`, {})).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  it('is UNAVAILABLE if its certificate is of another CA', async () => {
    const other = await mkdtemp(join(directory, 'other-'));
    const { client } = await makeCertificates(other);
    await expect(version(`https://127.0.0.1:${port}`, { DOCKER_CERT_PATH: client })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('certificate'),
    });
  });
});
