import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GrpcClient } from '../contract/grpc-client.ts';
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
});
