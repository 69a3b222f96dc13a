import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { RestClient } from '../contract/rest-client.ts';
import { EVERYTHING } from '../contract/rules.ts';
import { Scene } from '../contract/scene.ts';
import { Server, State } from '../contract/server.ts';
import { type Daemon, startDaemon } from '../docker/daemon.ts';
import { importImage } from '../docker/images.ts';
import { openWorld, type World } from './world.ts';

const VALUE = 'a-value-of-a-real-token';
const NETWORK = { mode: 'allow_list', rules: [{ host: 'api.test' }, { host: 'other.test', tls: 'inspect' }] };
const SECRETS = [{ name: 'token', variable: 'TOKEN' }];
const CONFIG = () => ({ network: { resolvers: [world.resolver], extra_ca: world.certificate } });
let world: World;
let state: State;
let server: Server;
let scene: Scene;
let sandbox: Sandbox;
const seen: (string | undefined)[] = [];

beforeAll(async () => {
  world = await openWorld((request, response) => {
    seen.push(request.headers.authorization);
    // A hostile server that shows what it got.
    response.end(`got ${request.headers.authorization}`);
  });
  for (const name of ['api.test', 'other.test']) world.names.set(name, () => world.address);
  state = await State.create();
  server = await Server.start(state, { runtime: 'bwrap', config: CONFIG() });
  scene = new Scene(server, state, 'bwrap', 'rest');
  const put = { name: 'token', owner_id: scene.owner, value: VALUE, hosts: ['api.test'] };
  await scene.client.call('PutSecret', put);
  const more = { network: NETWORK, secrets: SECRETS };
  sandbox = await scene.sandbox(await scene.codebase({ a: '' }), EVERYTHING, more);
});
afterAll(async () => {
  const log = server?.log.join('\n') ?? '';
  await scene?.close();
  const code = await server?.stop();
  const left = await state?.leftovers();
  await state?.remove();
  await world?.close();
  expect({ code, left }).toEqual({ code: 0, left: [] });
  expect(log).not.toContain(VALUE);
});

const run = (command: string) => scene.output(sandbox, command);
const CURL = 'curl -sS -m 30 -H "Authorization: Bearer $TOKEN"';

describe('a command with a secret', () => {
  it.each([
    ['curl by the proxy', `${CURL} https://api.test/`],
    ['curl without the proxy', `env -u HTTPS_PROXY -u https_proxy ${CURL} https://api.test/`],
    ['curl that trusts the system only', `env -u CURL_CA_BUNDLE -u SSL_CERT_FILE ${CURL} https://api.test/`],
    [
      'Python',
      `python3 -c 'import os, urllib.request as u; r = u.Request("https://api.test/", headers={"Authorization": "Bearer " + os.environ["TOKEN"]}); print(u.urlopen(r, timeout=30).read().decode())'`,
    ],
  ])('sends its value by %s, and sees its placeholder only', async (_, command) => {
    seen.length = 0;
    const output = await run(command);
    expect(seen).toEqual([`Bearer ${VALUE}`]);
    expect(output.trim()).toBe(`got Bearer ${sandbox.secrets[0]!.placeholder}`);
  });

  it('sends the new value right after PutSecret', async () => {
    const put = { name: 'token', owner_id: scene.owner, hosts: ['api.test'] };
    await scene.client.call('PutSecret', { ...put, value: `${VALUE}-2` });
    seen.length = 0;
    await run(`${CURL} https://api.test/`);
    await scene.client.call('PutSecret', { ...put, value: VALUE });
    await run(`${CURL} https://api.test/`);
    expect(seen).toEqual([`Bearer ${VALUE}-2`, `Bearer ${VALUE}`]);
  });

  it('sends it in the one header that the secret names, also when it asks for HTTP/2', async () => {
    const put = { name: 'token', owner_id: scene.owner, value: VALUE, hosts: ['api.test'] };
    const both = 'curl -sS -m 30 -H "X-Api-Key: $TOKEN" -H "Authorization: Bearer $TOKEN"';
    for (const [header, expected] of [
      ['authorization', `Bearer ${VALUE}`],
      ['x-api-key', `Bearer ${sandbox.secrets[0]!.placeholder}`],
    ] as const) {
      await scene.client.call('PutSecret', { ...put, header });
      for (const version of ['--http1.1', '--http2']) {
        seen.length = 0;
        await run(`${both} ${version} "https://api.test/?key=$TOKEN"`);
        expect(seen).toEqual([expected]);
      }
    }
    await scene.client.call('PutSecret', put);
  });

  it('cannot send its placeholder to another host that is looked into', async () => {
    seen.length = 0;
    expect(await run(`${CURL} -w '%{http_code}' https://other.test/`)).toMatch(/^paddock: the placeholder .*403$/s);
    expect(seen).toEqual([]);
  });

  it('gets no value put into plain HTTP, which is refused with its placeholder', async () => {
    seen.length = 0;
    expect(await run(`${CURL} -w '%{http_code}' http://api.test/`)).toMatch(/the placeholder .*plain HTTP.*403$/s);
    expect(seen).toEqual([]);
  });

  it('finds the value nowhere in what it can read', async () => {
    expect(
      await run('env | grep -c TOKEN; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c "a-value"; true'),
    ).toBe('1\n0\n');
    expect(
      JSON.stringify(await new RestClient(server.httpAddress).call('GetSandbox', { sandbox_id: sandbox.id })),
    ).not.toContain(VALUE);
  });

  it('is told to the owner of the secret, who cannot remove it meanwhile', async () => {
    const secret = { name: 'token', owner_id: scene.owner };
    expect(await scene.client.call('GetSecret', secret)).toMatchObject({ used_by: [sandbox.id] });
    await expect(scene.client.call('DeleteSecret', secret)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  });
});

describe('a command of a container with a secret', () => {
  let dockerd: Daemon;
  let inDocker: { state: State; server: Server; scene: Scene; sandbox: Sandbox };

  beforeAll(async () => {
    dockerd = await startDaemon();
    const programs = ['sh', 'env', 'cat', 'tr', 'grep', 'curl'];
    await importImage(dockerd.docker, 'small', { programs });
    const own = await State.create();
    const config = { ...CONFIG(), runtime: { docker: { host: dockerd.host, default_image: 'small' } } };
    const started = await Server.start(own, { runtime: 'docker', config });
    const made = new Scene(started, own, 'docker', 'rest');
    await made.client.call('PutSecret', { name: 'token', owner_id: made.owner, value: VALUE, hosts: ['api.test'] });
    const box = await made.sandbox(await made.codebase({ a: '' }), EVERYTHING, { network: NETWORK, secrets: SECRETS });
    inDocker = { state: own, server: started, scene: made, sandbox: box };
  });
  afterAll(async () => {
    await inDocker?.scene.close();
    await inDocker?.server.stop();
    const left = await inDocker?.state.leftovers();
    await inDocker?.state.remove();
    await dockerd?.stop();
    expect(left).toEqual([]);
  });
  const inContainer = (command: string) => inDocker.scene.output(inDocker.sandbox, command);

  it('sends its value to its host, by the proxy and without, and trusts the server by its variables', async () => {
    const placeholder = inDocker.sandbox.secrets[0]!.placeholder;
    seen.length = 0;
    for (const before of ['', 'env -u HTTPS_PROXY -u https_proxy ']) {
      expect(await inContainer(`${before}${CURL} https://api.test/`)).toBe(`got Bearer ${placeholder}`);
    }
    expect(seen).toEqual([`Bearer ${VALUE}`, `Bearer ${VALUE}`]);
    expect(
      await inContainer(
        'env | grep -c BEGIN; for each in $SSL_CERT_FILE $GIT_SSL_CAINFO $PIP_CERT $NODE_EXTRA_CA_CERTS; do grep -c BEGIN $each; done | tr "\\n" " "; :',
      ),
    ).toMatch(/^0\n([1-9]\d* ){4}$/);
  });

  it('sees its placeholder alone, which is refused elsewhere', async () => {
    seen.length = 0;
    expect(await inContainer(`${CURL} -w '%{http_code}' https://other.test/`)).toMatch(
      /^paddock: the placeholder .*403$/s,
    );
    expect(await inContainer(`${CURL} -w '%{http_code}' http://api.test/`)).toMatch(
      /the placeholder .*plain HTTP.*403$/s,
    );
    expect(seen).toEqual([]);
    expect(await inContainer('cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c "a-value"; :')).toBe('0\n');
  });
});

describe('a program with its own configuration, whose values are redacted', () => {
  const KEY = `sk_live_${VALUE}`;
  const rules = [
    ...EVERYTHING,
    { ...EVERYTHING[0]!, pattern: '.env', permission: 'PERMISSION_READ' as const, view: 'redacted', priority: 1 },
  ];
  const network = NETWORK;
  const secrets = [{ source: 'redacted', path: '.env', key: 'STRIPE_KEY', hosts: ['api.test'] }];
  const curl = (host: string) => `. ./.env; curl -sS -m 30 -H "Authorization: Bearer $STRIPE_KEY" https://${host}/`;

  it('sends the value to its host, sees the placeholder of the file only, and cannot send it elsewhere', async () => {
    const codebase = await scene.codebase({ '.env': `STRIPE_KEY=${KEY}\n` });
    const own = await scene.sandbox(codebase, rules, { network, secrets });
    const [{ results }] = [await scene.client.call('Fork', { sandbox_id: own.id })];
    const fork = results[0]!.sandbox!;
    scene.owns(fork);
    for (const each of [own, fork]) {
      seen.length = 0;
      const placeholder = (await scene.output(each, '. ./.env; echo $STRIPE_KEY')).trim();
      expect(placeholder).toMatch(/^sk_live_pdk[a-z2-7]{24}$/);
      expect(await scene.output(each, curl('api.test'))).toBe(`got Bearer ${placeholder}`);
      expect(await scene.output(each, curl('other.test'))).toMatch(/^paddock: the placeholder/);
      expect(seen).toEqual([`Bearer ${KEY}`]);
    }
  });
});
