import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CommitResponse, CreatedKey, ForkResult, Sandbox } from '../../lib/contract/messages.ts';
import { CallError, type Client, collect, PROTOCOLS, type Protocol } from './client.ts';
import { GrpcClient } from './grpc-client.ts';
import { expectError, json } from './rest-answers.ts';
import { RestClient } from './rest-client.ts';
import { EVERYTHING } from './rules.ts';
import { eventually, expectRefusal, refusal } from './scene.ts';
import { BUNDLE, Server, State } from './server.ts';

const ADMIN = `pdk_operator_${'k'.repeat(43)}`;
const CONFIG = { auth: { mode: 'keys' }, sandbox: { cleanup_interval: '300ms' } };

let state: State;
let server: Server;

const start = async () => {
  server = await Server.start(state, { config: CONFIG, env: { PADDOCK_ADMIN_KEY: ADMIN } });
};
beforeAll(async () => {
  state = await State.create();
  await start();
});
afterAll(async () => {
  const log = server.log.join('\n');
  const code = await server.stop();
  const left = await state.leftovers();
  const stored = await readFile(join(state.directory, 'metadata.json.log.1'), 'utf8');
  await state.remove();
  expect({ code, left }).toEqual({ code: 0, left: [] });
  for (const text of [log, stored]) expect(secrets.filter((secret) => text.includes(secret.slice(13)))).toEqual([]);
});

/** Every key of the suite: none may be logged or stored. */
const secrets = [ADMIN];

/** Creates an admin key with the subcommand, as the operator does on the host. */
async function hostKey(): Promise<string> {
  const config = join(state.directory, 'server.yaml');
  const { stdout } = await promisify(execFile)(process.execPath, [
    BUNDLE,
    'key',
    'create',
    '--admin',
    '-config',
    config,
  ]);
  expect(stdout).toMatch(/^pdk_[0-9a-z]{8}_[\w-]{43}\n$/);
  secrets.push(stdout.trim());
  return stdout.trim();
}

describe.each(PROTOCOLS)('keys over %s', (protocol: Protocol) => {
  let admin: Client;
  let clients: Client[];

  const clientOf = (key?: string): Client => {
    const client =
      protocol === 'rest' ? new RestClient(server.httpAddress, key) : new GrpcClient(server.grpcAddress, key);
    clients.push(client);
    return client;
  };
  const createKey = async (request: object, creator = admin) => {
    const created = await creator.call('CreateKey', { name: 'a key', ...request });
    secrets.push(created.secret);
    return created;
  };
  const ownerClient = async (owner_id: string) => clientOf((await createKey({ role: 'owner', owner_id })).secret);
  const sandboxOf = async (owner: Client): Promise<Sandbox> => {
    const codebase = await owner.call('CreateCodebase', { name: 'c' });
    await owner.upload(codebase.id, 'a.txt', 'a');
    await owner.upload(codebase.id, 'secret', 's');
    const permissions = [
      ...EVERYTHING,
      { pattern: 'secret', permission: 'PERMISSION_NONE', type: 'PATTERN_FILE', priority: 9 },
    ];
    return owner.call('CreateSandbox', { codebase_id: codebase.id, permissions });
  };

  beforeEach(() => {
    clients = [];
    admin = clientOf(ADMIN);
  });
  afterEach(async () => {
    const { sandboxes } = await admin.call('ListSandboxes', {});
    for (const { id } of sandboxes) await admin.call('DestroySandbox', { sandbox_id: id, discard: true });
    for (const client of clients) client.close();
  });

  it('are required', async () => {
    await expectRefusal(clientOf().call('ListSandboxes', {}), 'UNAUTHENTICATED', /a key is required/);
    await expectRefusal(clientOf(`${ADMIN}x`).call('GetCaller', {}), 'UNAUTHENTICATED', /^the key is not valid$/);
  });

  it('are created on the host for the server that runs', async () => {
    const first = clientOf(await hostKey());
    const caller = await first.call('GetCaller', {});
    expect(caller).toMatchObject({ role: 'admin', key: { name: 'admin', created_by: '' } });
    const { key } = await createKey({ role: 'owner', owner_id: 'ann' }, first);
    expect(key).toMatchObject({ created_by: caller.key?.id });
    expect((await first.call('ListKeys', {})).keys.map(({ name }) => name)).toContain('admin');
  });

  it('of an owner give everything of that owner, and nothing else', async () => {
    const [ann, bob] = [await ownerClient(`ann-${protocol}`), await ownerClient(`bob-${protocol}`)];
    const sandbox = await sandboxOf(ann);
    expect(sandbox.owner_id).toBe(`ann-${protocol}`);
    const { id: sandbox_id, codebase_id } = sandbox;
    expect(await ann.call('Exec', { sandbox_id, command: 'cat a.txt' })).toMatchObject({ stdout: 'a' });
    expect(await ann.call('GetCodebase', { codebase_id })).toMatchObject({ owner_id: `ann-${protocol}` });
    expect((await ann.call('ListSandboxes', {})).sandboxes.map(({ id }) => id)).toEqual([sandbox_id]);
    expect((await bob.call('ListSandboxes', { codebase_id })).sandboxes).toEqual([]);
    expect((await bob.call('ListCodebases', {})).codebases).toEqual([]);

    for (const [of, missing] of [
      [
        { sandbox_id, codebase_id },
        { sandbox_id: 'sb_missing', codebase_id: 'cb_missing' },
      ],
    ] as const) {
      const texts = async (ids: { sandbox_id: string; codebase_id: string }) => {
        const refusals = [
          await expectRefusal(bob.call('Exec', { sandbox_id: ids.sandbox_id, command: 'true' }), 'NOT_FOUND'),
          await expectRefusal(bob.call('CreateSandbox', { codebase_id: ids.codebase_id }), 'NOT_FOUND'),
          await expectRefusal(bob.upload(ids.codebase_id, 'x', 'x'), 'NOT_FOUND'),
          await expectRefusal(bob.download(ids.codebase_id, 'a.txt'), 'NOT_FOUND'),
          await expectRefusal(bob.call('DeleteCodebase', { codebase_id: ids.codebase_id }), 'NOT_FOUND'),
        ];
        return refusals.map(({ message }) => message.replace(/"(sb|cb)_\w+"/, '$1'));
      };
      expect(await texts(of)).toEqual(await texts(missing));
    }
    await expectRefusal(bob.call('CreateCodebase', { name: 'c', owner_id: 'ann' }), 'PERMISSION_DENIED', /owner_id/);
    await expectRefusal(bob.call('ListCodebases', { owner_id: 'ann' }), 'PERMISSION_DENIED', /owner_id/);
    await expectRefusal(createKey({ role: 'admin' }, bob), 'PERMISSION_DENIED', /may not create a key of role admin/);
    await expectRefusal(createKey({ role: 'agent', sandbox_id }, bob), 'NOT_FOUND', /^sandbox ".*" does not exist$/);
    expect(await admin.call('GetSandbox', { sandbox_id })).toMatchObject({ id: sandbox_id });
  });

  it('of those who could use an expired sandbox tell its end, to others it never existed', async () => {
    const owner_id = `ann-${protocol}`;
    const [ann, bob] = [await ownerClient(owner_id), await ownerClient(`bob-${protocol}`)];
    const codebase = await ann.call('CreateCodebase', { name: 'c' });
    // The agent's key is created before the sandbox expires, also on a machine that stalls for a while.
    const expiring = await ann.call('CreateSandbox', { codebase_id: codebase.id, expires_in: 3600 });
    const sandbox_id = expiring.id;
    const agent = clientOf((await createKey({ role: 'agent', sandbox_id }, ann)).secret);
    await ann.call('UpdateSandbox', { sandbox_id, expires_in: 1 });
    await eventually(
      'the end of the sandbox',
      async () => (await ann.call('ListSandboxes', {})).sandboxes.length === 0,
    );
    for (const client of [ann, agent, admin]) {
      await expectRefusal(client.call('GetSandbox', { sandbox_id }), 'NOT_FOUND', / no longer exists: it expired at /);
    }
    const plain = `sandbox "${sandbox_id}" does not exist`;
    const { message, details } = await refusal(bob.call('GetSandbox', { sandbox_id }));
    expect([message, details.length]).toEqual([plain, 1]);
    const newKey = createKey({ role: 'agent', sandbox_id }, ann);
    expect(await refusal(newKey)).toMatchObject({ code: 'NOT_FOUND', message: plain });
  });

  it('of an agent give the commands and files of one sandbox, as the agent', async () => {
    const ann = await ownerClient('ann');
    const [sandbox, other] = [await sandboxOf(ann), await sandboxOf(ann)];
    const { id: sandbox_id } = sandbox;
    const agent = clientOf((await createKey({ role: 'agent', sandbox_id }, ann)).secret);
    expect(await agent.call('GetCaller', {})).toMatchObject({ role: 'agent', sandbox_id, owner_id: 'ann' });
    expect(await agent.call('Exec', { sandbox_id, command: 'cat a.txt' })).toMatchObject({ stdout: 'a' });
    await agent.write('WriteFile', { sandbox_id, path: 'new' }, 'n');
    expect((await collect(agent.read('ReadFile', { sandbox_id, path: 'new' }))).toString()).toBe('n');
    await expectRefusal(agent.read('ReadFile', { sandbox_id, path: 'secret' }), 'NOT_FOUND');
    for (const refused of [
      () => agent.read('ReadFile', { sandbox_id, path: 'secret', as: 'owner' }),
      () => agent.write('WriteFile', { sandbox_id, path: 'x', as: 'owner' }, 'x'),
      () => agent.call('ListDirectory', { sandbox_id, as: 'owner' }),
      () => agent.call('Commit', { sandbox_id }),
      () => agent.call('UpdatePermissions', { sandbox_id, permissions: EVERYTHING }),
      () => agent.call('ListChanges', { sandbox_id, as: 'owner' }),
      () => agent.call('Discard', { sandbox_id }),
      () => agent.call('ListKeys', {}),
    ]) {
      await expectRefusal(refused(), 'PERMISSION_DENIED', /^a key of role agent may not /);
    }
    await expectRefusal(agent.call('Exec', { sandbox_id: other.id, command: 'true' }), 'NOT_FOUND');
  });

  it('of an agent show nothing of what its rules hide', async () => {
    const ann = await ownerClient('ann');
    const { id: sandbox_id } = await sandboxOf(ann);
    await ann.call('UpdateSandbox', { sandbox_id, labels: { note: 'keep secret' } });
    const agent = clientOf((await createKey({ role: 'agent', sandbox_id }, ann)).secret);
    // Changes of the owner: hidden ones first, last and in between.
    for (const path of ['secret', 'hidden/a', 'hidden/z']) {
      await ann.write('WriteFile', { sandbox_id, path, as: 'owner' }, 'private');
    }
    await ann.write('WriteFile', { sandbox_id, path: 'seen', as: 'owner' }, 'private');
    await ann.call('MoveFile', { sandbox_id, from: 'hidden/z', to: 'z', as: 'owner' });
    await agent.call('Exec', { sandbox_id, command: 'echo new > a.txt; echo new > middle; ln middle link' });
    const permissions = [
      ...EVERYTHING,
      { pattern: '{secret,link}', permission: 'PERMISSION_NONE', type: 'PATTERN_GLOB', priority: 9 },
      { pattern: 'hidden', permission: 'PERMISSION_NONE', type: 'PATTERN_DIRECTORY', priority: 9 },
      { pattern: 'seen', permission: 'PERMISSION_VIEW', type: 'PATTERN_FILE', priority: 9 },
    ];
    await ann.call('UpdatePermissions', { sandbox_id, permissions });

    const answers: unknown[] = [await agent.call('GetSandbox', { sandbox_id })];
    const paths: string[] = [];
    for (let page_token = ''; ; ) {
      const page = await agent.call('ListChanges', { sandbox_id, page_size: 1, page_token });
      paths.push(...page.changes.map(({ path }) => path));
      answers.push(page.changes, Buffer.from(page.next_page_token, 'base64url').toString());
      page_token = page.next_page_token;
      if (page_token === '') break;
      expect(page.changes).toHaveLength(1);
    }
    // The other link of `middle` is hidden, and so is its content.
    expect(paths).toEqual(['a.txt', 'seen', 'z']);
    expect(await ann.call('ListChanges', { sandbox_id, as: 'agent' })).toMatchObject({ changes: { length: 3 } });
    for (const format of ['patch', 'tar']) {
      const exported = (await collect(agent.read('ExportChanges', { sandbox_id, format }))).toString('latin1');
      expect(exported).toContain('a.txt');
      expect(exported).not.toContain('seen');
      answers.push(exported);
    }
    answers.push(await agent.call('ExplainPermission', { sandbox_id, path: 'a.txt' }));
    for (const path of ['secret', 'hidden/a', 'hidden/missing']) {
      const text = await expectRefusal(agent.call('ExplainPermission', { sandbox_id, path }), 'NOT_FOUND');
      expect(text.message).toBe(`"${path}" is not visible to the sandbox's commands`);
    }
    expect(JSON.stringify(answers)).not.toMatch(/\bsecret\b|hidden|link/);
    expect(await ann.call('GetSandbox', { sandbox_id })).toMatchObject({ permissions });
  });

  it('with scopes do only what these allow', async () => {
    const ann = await ownerClient('ann');
    const { id: sandbox_id, codebase_id } = await sandboxOf(ann);
    const scopes = ['sandboxes:write', 'keys:write'];
    const narrow = clientOf((await createKey({ role: 'owner', scopes }, ann)).secret);
    await narrow.call('StopSandbox', { sandbox_id });
    await expectRefusal(narrow.call('Exec', { sandbox_id, command: 'true' }), 'PERMISSION_DENIED', /the scope exec$/);
    await expectRefusal(createKey({ role: 'owner' }, narrow), 'PERMISSION_DENIED', /^scopes must be among/);
    const committing = { codebase_id, auto_commit: 'on_exec' };
    await expectRefusal(narrow.call('CreateSandbox', committing), 'PERMISSION_DENIED', /the scope changes:commit$/);
  });

  it('of an owner are within its limits, which admins set', async () => {
    const owner_id = `limited-${protocol}`;
    const ann = await ownerClient(owner_id);
    const limits = { sandboxes: 1, stored_bytes: 100, codebases: 1 };
    await admin.call('SetOwnerLimits', { owner_id, limits });
    await expectRefusal(ann.call('SetOwnerLimits', { owner_id, limits: {} }), 'PERMISSION_DENIED');
    const settings = { owner_id, set: limits, effective: { ...limits, commands: 64 } };
    expect(await ann.call('GetOwnerLimits', { owner_id })).toMatchObject(settings);
    const { id: codebase_id } = await ann.call('CreateCodebase', { name: 'c' });
    await expectRefusal(ann.call('CreateCodebase', { name: 'd' }), 'RESOURCE_EXHAUSTED', /has 1 codebases/);
    await expectRefusal(
      ann.upload(codebase_id, 'a', 'x'.repeat(101)),
      'RESOURCE_EXHAUSTED',
      /stored_bytes of the owner/,
    );
    const request = { codebase_id, permissions: EVERYTHING, auto_commit: 'on_exec' };
    const { id: sandbox_id } = await ann.call('CreateSandbox', request);
    await expectRefusal(
      ann.call('CreateSandbox', request),
      'RESOURCE_EXHAUSTED',
      /\(sandboxes of the owner’s limits\)$/,
    );
    await ann.call('Exec', { sandbox_id, command: 'head -c 101 /dev/zero >big' });
    const { auto_commit_error } = await ann.call('GetSandbox', { sandbox_id });
    expect(auto_commit_error).toContain('would hold 101 bytes, the most is 100 (stored_bytes of the owner’s limits)');
    expect((await ann.call('ListFiles', { codebase_id })).files).toEqual([]);
  });

  it('of an owner keep at most the bytes of its limit in all its sandboxes together', async () => {
    const owner_id = `kept-${protocol}`;
    const [ann, bob] = [await ownerClient(owner_id), await ownerClient(`other-${protocol}`)];
    const setLimit = (delta_bytes: number) => admin.call('SetOwnerLimits', { owner_id, limits: { delta_bytes } });
    await setLimit(1000);
    const { id: codebase_id } = await ann.call('CreateCodebase', { name: 'c' });
    const request = { codebase_id, permissions: EVERYTHING };
    const { id: first } = await ann.call('CreateSandbox', request);
    const { id: second } = await ann.call('CreateSandbox', request);
    const append = (sandbox_id: string) => ann.call('Exec', { sandbox_id, command: '/usr/bin/printf x >>b' });
    await ann.write('WriteFile', { sandbox_id: first, path: 'a' }, 'x'.repeat(1000));
    expect(await append(second)).toMatchObject({ exit_code: 1, stderr: expect.stringMatching(/quota exceeded/i) });
    await expectRefusal(
      ann.write('WriteFile', { sandbox_id: second, path: 'c' }, 'x'),
      'RESOURCE_EXHAUSTED',
      /\(delta_bytes\)$/,
    );
    const full = /keep 1000 bytes, the most is 1000 \(delta_bytes of the owner’s limits\)$/;
    await expectRefusal(ann.call('CreateSandbox', request), 'RESOURCE_EXHAUSTED', full);
    const { id: others } = await sandboxOf(bob);
    await bob.write('WriteFile', { sandbox_id: others, path: 'a' }, 'x'.repeat(1001));
    await ann.call('StopSandbox', { sandbox_id: first });
    expect(await append(second)).toMatchObject({ exit_code: 1 });
    await expectRefusal(ann.call('StartSandbox', { sandbox_id: first }), 'RESOURCE_EXHAUSTED', full);
    await setLimit(1001);
    await ann.call('StartSandbox', { sandbox_id: first });
    expect(await append(second)).toMatchObject({ exit_code: 0 });
    expect(await append(first)).toMatchObject({ exit_code: 1 });
    await ann.call('DestroySandbox', { sandbox_id: first });
    await ann.write('WriteFile', { sandbox_id: second, path: 'c' }, 'x'.repeat(1000));
    await ann.call('DestroySandbox', { sandbox_id: second });
    await bob.call('DestroySandbox', { sandbox_id: others });
  });

  it('end a command in progress when they are revoked or expire', async () => {
    const ann = await ownerClient('ann');
    const { id: sandbox_id } = await sandboxOf(ann);
    const running = async (key: string) => {
      const stream = clientOf(key).watch('ExecStream', { sandbox_id, command: 'echo up; sleep 300', timeout: 300 });
      const chunks = stream[Symbol.asyncIterator]();
      expect((await chunks.next()).value).toMatchObject({ stream: 'STDOUT' });
      return { [Symbol.asyncIterator]: () => chunks };
    };
    /** The stream of a command that began before its key expires, also on a machine that stalls for a while. */
    const beforeExpiry = async (expires_in: number): ReturnType<typeof running> => {
      const { secret } = await createKey({ role: 'agent', sandbox_id, expires_in }, ann);
      return running(secret).catch((error) => {
        if (expires_in > 60 || !(error instanceof CallError) || error.code !== 'UNAUTHENTICATED') throw error;
        return beforeExpiry(expires_in * 2);
      });
    };
    const { secret, key } = await createKey({ role: 'agent', sandbox_id }, ann);
    const stream = await running(secret);
    await ann.call('RevokeKey', { key_id: key!.id });
    await expectRefusal(stream, 'UNAUTHENTICATED', /^the key was revoked$/);
    await expectRefusal(clientOf(secret).call('GetCaller', {}), 'UNAUTHENTICATED', /^the key is not valid$/);

    await expectRefusal(await beforeExpiry(2), 'UNAUTHENTICATED', /^the key has expired$/);
  });
});

it('keys and the limits of owners survive a restart of the server', async () => {
  const key = await hostKey();
  const before = new RestClient(server.httpAddress, key);
  const { key: first } = await before.call('GetCaller', {});
  const limits = { commands: 3, streams: 0 };
  await before.call('SetOwnerLimits', { owner_id: 'ann', limits });
  before.close();
  await server.stop();
  await start();
  const after = new RestClient(server.httpAddress, key);
  expect((await after.call('GetCaller', {})).key?.id).toBe(first?.id);
  expect(await after.call('GetOwnerLimits', { owner_id: 'ann' })).toMatchObject({ set: limits, effective: limits });
  after.close();
});

it('a retry with an idempotency key has no second effect after the server was killed', async () => {
  const admin = new RestClient(server.httpAddress, ADMIN);
  const { secret } = await admin.call('CreateKey', { name: 'retries', role: 'owner', owner_id: 'retries' });
  secrets.push(secret);
  let client = new RestClient(server.httpAddress, secret);
  const post = async <T = { id: string }>(path: string, body: object): Promise<T> => {
    const headers = { 'idempotency-key': path.replaceAll(/\W/g, '-') };
    const answer = await client.send('POST', path, { headers, body: JSON.stringify(body) });
    expect(`${answer.status} ${answer.body}`).toMatch(/^200 /);
    return json(answer);
  };
  const codebase = await post('/v1/codebases', { name: 'c' });
  const sandbox = await post<Sandbox>('/v1/sandboxes', { codebase_id: codebase.id, permissions: EVERYTHING });
  const at = `/v1/sandboxes/${sandbox.id}`;
  await client.call('Exec', { sandbox_id: sandbox.id, command: 'echo 1 > a' });
  const commit = () => post<CommitResponse>(`${at}/commit`, {});
  const others = async () => ({
    codebase: await post('/v1/codebases', { name: 'c' }),
    sandbox: await post('/v1/sandboxes', { codebase_id: codebase.id, permissions: EVERYTHING }),
    checkpoint: await post(`${at}/checkpoints`, { name: 'p' }),
    forks: (await post<{ results: ForkResult[] }>(`${at}/fork`, { count: 2 })).results
      .map((each) => each.sandbox?.id)
      .sort(),
  });
  const key = () => post<CreatedKey>('/v1/keys', { name: 'k', role: 'agent', sandbox_id: sandbox.id });
  const committed = await commit();
  const made = await others();
  const created = await key();
  secrets.push(created.secret);
  expect(await others()).toEqual(made);
  expect(await key()).toEqual({
    key: created.key,
    secret: '',
    notice: expect.stringMatching(/in the first answer only/),
  });
  await client.call('Exec', { sandbox_id: sandbox.id, command: 'echo 2 > b' });

  await server.stop('SIGKILL');
  client.close();
  admin.close();
  // As if the server had been killed between each effect and the record of its answer. A commit has no such moment.
  const path = join(state.directory, 'metadata.json.answers');
  const lines = (await readFile(path, 'utf8')).split('\n');
  const isCommit = (line: string) => line.includes('"committed":true');
  await writeFile(path, lines.filter((line) => !/^\w+ answer /.test(line) || isCommit(line)).join('\n'));
  await start();

  client = new RestClient(server.httpAddress, secret);
  expect(await others()).toEqual(made);
  expect(await commit()).toEqual(committed);
  const again = await key();
  secrets.push(again.secret);
  expect(again.secret).toMatch(/^pdk_/);
  // Nobody knows the secret of the first one.
  expect((await client.call('ListKeys', {})).keys.map(({ name }) => name).sort()).toEqual(['k', 'retries']);
  expect((await client.call('ListSandboxes', {})).sandboxes).toHaveLength(3);
  expect((await client.call('ListCodebases', {})).codebases).toHaveLength(1);
  expect((await client.call('ListChanges', { sandbox_id: sandbox.id })).changes).toMatchObject([{ path: 'b' }]);
  for (const { id } of (await client.call('ListSandboxes', {})).sandboxes) {
    await client.call('DestroySandbox', { sandbox_id: id });
  }
  client.close();
});

it('a key in a URL is refused, and REST names the scheme that it accepts', async () => {
  const client = new RestClient(server.httpAddress);
  const answer = await client.send('GET', `/v1/sandboxes?x-api-key=${ADMIN}&key=${ADMIN}&authorization=${ADMIN}`);
  expectError(answer, 401, 16, /a key is required/);
  expect(answer.headers['www-authenticate']).toBe('Bearer');
  expect((await client.send('GET', '/health')).status).toBe(200);
  client.close();
});
