import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GrpcClient } from '../contract/grpc-client.ts';
import { EVERYTHING } from '../contract/rules.ts';
import { Scene } from '../contract/scene.ts';
import { Server, State } from '../contract/server.ts';

const UPLOADS = 423;

describe('a server with 512 descriptors', () => {
  let state: State;
  let server: Server;
  let client: GrpcClient;

  beforeAll(async () => {
    state = await State.create();
    server = await Server.start(state, { maxDescriptors: 512 });
    client = new GrpcClient(server.grpcAddress);
  });

  afterAll(async () => {
    client?.close();
    await server?.stop();
    await state?.remove();
  });

  it('stores 423 files that are uploaded at once, and meanwhile runs, stops and destroys sandboxes', async () => {
    const scene = new Scene(server, state, 'bwrap', 'rest');
    const codebase = await scene.codebase({});
    const sandboxes = [await scene.sandbox(codebase), await scene.sandbox(codebase)] as const;
    // All have begun before the content of the first one ends.
    let begun = 0;
    let allBegan = () => {};
    const began = new Promise<void>((resolve) => {
      allBegan = resolve;
    });
    async function* content() {
      yield Buffer.from('a');
      if (++begun === UPLOADS) allBegan();
      await began;
    }
    const uploads = Promise.all(
      Array.from({ length: UPLOADS }, (_, index) => client.upload(codebase.id, String(index), content())),
    );
    uploads.catch(() => undefined);
    await began;
    expect(await scene.output(sandboxes[0], 'echo run')).toBe('run\n');
    await scene.client.call('StopSandbox', { sandbox_id: sandboxes[0].id });
    await scene.client.call('DestroySandbox', { sandbox_id: sandboxes[1].id });
    expect((await fetch(`http://${server.httpAddress}/health`)).status).toBe(200);
    await uploads;
    expect(await client.call('GetCodebase', { codebase_id: codebase.id })).toMatchObject({ file_count: UPLOADS });
  });

  it('refuses a network with more ports than its share, and cuts connections for a sandbox that has none', async () => {
    const scene = new Scene(server, state, 'bwrap', 'rest');
    const codebase = await scene.codebase({});
    const create = (ports: number[]) =>
      scene.sandbox(codebase, EVERYTHING, { network: { mode: 'allow_list', rules: [{ host: 'api.test', ports }] } });
    const many = Array.from({ length: 64 }, (_, index) => 1000 + index);
    await expect(create(many)).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('no descriptors left for the 69 ports'),
    });
    const [hostile, other] = [await create([443]), await create([443])];
    const hold = `python3 -I -c '
import socket
held = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(200)]
print("held", flush=True)
for each in held: each.settimeout(30)
def isOpen(each):
    try: each.send(b"x"); each.setblocking(False); return each.recv(1) != b""
    except BlockingIOError: return True
    except OSError: return False
import time
while sum(map(isOpen, held)) > 30: time.sleep(0.05)
print("cut", flush=True); time.sleep(60)' > out & until grep -q cut out; do sleep 0.1; done`;
    await scene.output(hostile, hold, { timeout: 60 });
    for (let index = 0; index < 5; index++) {
      const answer = await scene.output(other, 'curl -s -o /dev/null -w "%{http_connect}" -m 30 https://www.test/; :');
      expect(answer).toBe('403');
    }
    expect(await scene.output(hostile, 'cat out')).toBe('held\ncut\n');
  });
});
