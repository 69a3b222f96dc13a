import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { grpcCall, identity, restCall, sendPlain } from '../adapters/tls-clients.ts';
import { Authority, type KeyPair } from '../certificates.ts';
import { Server, State } from '../contract/server.ts';
import { type Ended, Place } from './program.ts';

const ADMIN = `pdk_operator_${'k'.repeat(43)}`;
const LIST = 'service.v1.SandboxService/ListSandboxes';

let directory: string;
let authority: Authority;
let pair: KeyPair;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'paddock-tls-'));
  authority = await Authority.create(directory);
  pair = await authority.issue('server');
});
afterAll(() => rmSync(directory, { recursive: true }));

const portOf = (address: string) => Number(address.split(':').at(-1));

it('a server with TLS, client certificates and bound keys serves the owner of certificate and key only', async () => {
  const state = await State.create();
  const tls = { ...pair, client_ca: authority.certificate, bind_owners: true, admin_names: ['operator'] };
  const server = await Server.start(state, {
    runtime: 'mock',
    config: { server: { tls }, auth: { mode: 'keys' } },
    env: { PADDOCK_ADMIN_KEY: ADMIN },
  });
  try {
    const [rest, grpc] = [portOf(server.httpAddress), portOf(server.grpcAddress)];
    const ca = readFileSync(authority.certificate);
    const [operator, ann] = [await authority.issue('operator', 'client'), await authority.issue('ann', 'client')];
    const call = (who: KeyPair, key: string, method: string, path: string, body?: string) =>
      restCall(rest, { path, method, ca, ...identity(who), headers: { 'x-api-key': key } }, body);
    const created = await call(operator, ADMIN, 'POST', '/v1/keys', '{"name":"k","role":"owner","owner_id":"ann"}');
    expect(created.status).toBe(200);
    const { secret } = JSON.parse(created.body) as { secret: string };
    expect((await call(ann, secret, 'GET', '/v1/caller')).body).toContain('"owner_id":"ann"');
    for (const [who, key] of [
      [ann, ADMIN],
      [operator, secret],
    ] as const) {
      expect(await call(who, key, 'GET', '/v1/caller')).toMatchObject({ status: 401 });
    }
    const listed = { identity: ann, headers: { 'x-api-key': secret } };
    expect(await grpcCall(grpc, authority.certificate, LIST, listed)).toMatchObject({ sandboxes: [] });
    const refused = { identity: operator, headers: { 'x-api-key': secret } };
    await expect(grpcCall(grpc, authority.certificate, LIST, refused)).rejects.toMatchObject({ code: 16 });

    // No listener serves plain text.
    for (const port of [rest, grpc]) {
      expect((await sendPlain(port, 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n')).length).toBeLessThan(8);
    }
    await expectHealthy(state, server);
    expect(server.log.join('\n')).not.toMatch(/plain text|auth\.mode is off|PRIVATE/);
  } finally {
    expect(await server.stop()).toBe(0);
    await state.remove();
  }
});

it('a server whose key is not that of its certificate does not start', async () => {
  const place = new Place();
  const other = await authority.issue('other');
  copyFileSync(other.key, join(place.folder, 'key.pem'));
  const tls = `{certificate: ${pair.certificate}, key: ${join(place.folder, 'key.pem')}}`;
  const config = place.config('runtime: {type: mock}', 'server.yaml', tls);
  const { code, stdout, stderr } = await place.run(['-config', config]);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `paddock: server.tls.key: ${join(place.folder, 'key.pem')} is not the private key of the certificate in ${pair.certificate}\n`,
  );
  place.remove();
});

it('health has exit code 0 if the server serves, and 1 if it does not', async () => {
  const state = await State.create();
  const server = await Server.start(state, { runtime: 'mock', config: { server: { tls: { ...pair } } } });
  await expectHealthy(state, server);
  await server.stop();
  expect(await health(state, server)).toEqual({
    code: 1,
    stdout: '',
    stderr: `paddock: the server does not serve ${server.httpAddress}: connect ECONNREFUSED ${server.httpAddress}\n`,
  });
  await state.remove();
});

/** Runs the command for the REST address of a server. */
async function health(state: State, { httpAddress }: Server): Promise<Ended> {
  const place = new Place();
  try {
    return await place.run(['health', '-config', join(state.directory, 'server.yaml'), '-http-addr', httpAddress]);
  } finally {
    place.remove();
  }
}

/** A busy machine may need more than one attempt. */
async function expectHealthy(state: State, server: Server): Promise<void> {
  await expect.poll(() => health(state, server), { timeout: 30_000 }).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
}
