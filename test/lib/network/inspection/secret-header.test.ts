import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { World } from './world.ts';

const VALUE = 'the-real-value';
const PLACEHOLDER = 'pdk_secret_token_0123456789abcdef';
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const secretFor = (header: string, parts: ('header' | 'query' | 'body')[] = ['header']) => ({
  name: 'token',
  placeholder: PLACEHOLDER,
  value: VALUE,
  hosts: ['api.example'],
  in: parts,
  header,
});

let world: World;
beforeEach(async () => {
  world = await World.create();
});
afterEach(() => world.close());

describe('a secret that names its header', () => {
  it('goes into this header in any case of letters, and into no other one', async () => {
    world.secrets = [secretFor('x-api-key')];
    const headers = { 'X-Api-Key': PLACEHOLDER, authorization: `Bearer ${PLACEHOLDER}`, 'x-api-key2': PLACEHOLDER };
    expect(await world.request('/', { headers })).toMatchObject({ status: 200 });
    expect(world.seen[0]!.headers).toMatchObject({
      'x-api-key': VALUE,
      authorization: `Bearer ${PLACEHOLDER}`,
      'x-api-key2': PLACEHOLDER,
    });
    expect(world.refusals).toEqual([]);
  });

  it('goes into each of several such headers', async () => {
    world.secrets = [secretFor('x-api-key')];
    await world.request('/', { headers: { 'x-api-key': [PLACEHOLDER, `a ${PLACEHOLDER}`] } });
    const { rawHeaders } = world.seen[0]!;
    expect(rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'x-api-key')).toEqual([
      VALUE,
      `a ${VALUE}`,
    ]);
  });

  it('goes nowhere in a request without this header', async () => {
    world.secrets = [secretFor('x-api-key')];
    const headers = { cookie: PLACEHOLDER, authorization: basic(`user:${PLACEHOLDER}`) };
    await world.request(`/${PLACEHOLDER}?a=${PLACEHOLDER}`, { method: 'POST', headers, body: PLACEHOLDER });
    expect(world.seen).toMatchObject([{ url: `/${PLACEHOLDER}?a=${PLACEHOLDER}`, headers, body: PLACEHOLDER }]);
    expect(JSON.stringify(world.seen)).not.toContain(VALUE);
  });

  it.each([
    ['after Bearer', `Bearer ${PLACEHOLDER}`, `Bearer ${VALUE}`],
    ['in Basic', basic(`user:${PLACEHOLDER}`), basic(`user:${VALUE}`)],
  ])('is found %s', async (_, sent, got) => {
    world.secrets = [secretFor('authorization')];
    await world.request('/', { headers: { authorization: sent, 'proxy-auth': sent } });
    expect(world.seen[0]!.headers).toMatchObject({ authorization: got, 'proxy-auth': sent });
  });

  it('goes into its other parts as without a header', async () => {
    world.secrets = [secretFor('x-api-key', ['header', 'body'])];
    const headers = { 'x-other': PLACEHOLDER };
    await world.request(`/?a=${PLACEHOLDER}`, { method: 'POST', headers, body: PLACEHOLDER });
    expect(world.seen).toMatchObject([{ url: `/?a=${PLACEHOLDER}`, headers, body: VALUE }]);
  });

  it('is refused in any header to a host that is none of its hosts', async () => {
    world.secrets = [{ ...secretFor('x-api-key'), hosts: ['other.example'] }];
    for (const name of ['x-api-key', 'x-other']) {
      const answer = await world.request('/', { headers: { [name]: PLACEHOLDER } });
      expect(answer).toMatchObject({ status: 403, headers: { 'x-paddock-network': 'refused; code=secret_elsewhere' } });
    }
    expect(world.seen).toEqual([]);
  });

  it('is taken out of answers that show it', async () => {
    world.secrets = [secretFor('x-api-key')];
    world.answer = (request, response) => response.end(`got ${request.headers['x-api-key']}`);
    const answer = await world.request('/', { headers: { 'x-api-key': PLACEHOLDER } });
    expect(answer.body).toBe(`got ${PLACEHOLDER}`);
  });

  it('goes into this header only of a client that prefers HTTP/2, which speaks HTTP/1.1 then', async () => {
    world.secrets = [secretFor('x-api-key')];
    const socket = world.tls({ ALPNProtocols: ['h2', 'http/1.1'] });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.write(`GET / HTTP/1.1\r\nHost: api.example\r\nx-other: ${PLACEHOLDER}\r\nx-api-key: ${PLACEHOLDER}\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    expect(world.seen[0]!.headers).toMatchObject({ 'x-other': PLACEHOLDER, 'x-api-key': VALUE });
  });
});
