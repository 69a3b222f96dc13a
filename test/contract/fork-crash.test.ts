import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { eventually, type Scene } from './scene.ts';
import { useServer } from './use-server.ts';

const FILES = 200;
const CONFIG = { config: { sandbox: { max_per_user: 0 } } };

describe('a server that is killed', () => {
  const served = useServer(CONFIG);

  const fill = (n: number) => `for i in $(seq ${FILES}); do echo ${n} > f$i; done`;
  const seen = (scene: Scene, sandbox: Sandbox) => scene.output(sandbox, 'cat f* | sort -u; ls | wc -l');
  const whole = (n: number) => `${n}\n${FILES}\n`;

  /** Kills it so long after `call` was sent, and has the next one up, which ends what was just being launched. */
  async function killedAfter(ms: number, scene: Scene, call: () => Promise<unknown>): Promise<Scene> {
    const under = call().catch(() => undefined);
    await new Promise((done) => setTimeout(done, ms));
    await served.server.stop('SIGKILL');
    await under;
    scene.disconnect();
    await served.start();
    return served.scene();
  }

  async function endAll(scene: Scene, codebase_id: string): Promise<void> {
    const { sandboxes } = await scene.client.call('ListSandboxes', { codebase_id, page_size: 1000 });
    for (const { id } of sandboxes) await scene.client.call('DestroySandbox', { sandbox_id: id });
    await eventually(
      'the layers are gone',
      async () => readdirSync(join(served.state.directory, 'mounts/layers')).length === 0,
    );
    await scene.client.call('DeleteCodebase', { codebase_id });
    await scene.close();
  }

  it('during checkpoints and rollbacks keeps each checkpoint whole, and the sandbox in one of the two states', async () => {
    let scene = served.scene();
    const codebase = await scene.codebase({});
    const sandbox = await scene.sandbox(codebase);
    let present = 1;
    await scene.output(sandbox, fill(present));
    for (const [round, ms] of [0, 2, 5, 9, 14, 25].entries()) {
      const next = round + 2;
      scene = await killedAfter(ms, scene, () =>
        scene.client.call('CreateCheckpoint', { sandbox_id: sandbox.id, name: `c${present}` }),
      );
      expect(await seen(scene, sandbox)).toBe(whole(present));
      const { checkpoints } = await scene.client.call('ListCheckpoints', { sandbox_id: sandbox.id });
      await scene.output(sandbox, fill(next));
      for (const { name } of checkpoints) {
        await scene.client.call('Rollback', { sandbox_id: sandbox.id, checkpoint: name });
        expect(await seen(scene, sandbox)).toBe(whole(Number(name.slice(1))));
      }
      await scene.output(sandbox, fill(next));
      present = next;
      const target = checkpoints.at(-1)?.name;
      if (target === undefined) continue;
      scene = await killedAfter(ms, scene, () =>
        scene.client.call('Rollback', { sandbox_id: sandbox.id, checkpoint: target }),
      );
      const after = await seen(scene, sandbox);
      expect([whole(present), whole(Number(target.slice(1)))]).toContain(after);
      await scene.output(sandbox, fill(present));
    }
    await endAll(scene, codebase.id);
  }, 300_000);

  it('during a fork has complete forks or none, and they outlive their parent', async () => {
    let scene = served.scene();
    const codebase = await scene.codebase({});
    const parent = await scene.sandbox(codebase);
    await scene.output(parent, fill(1));
    for (const ms of [1, 5, 20, 60]) {
      scene = await killedAfter(ms, scene, () => scene.client.call('Fork', { sandbox_id: parent.id, count: 8 }));
      const { sandboxes } = await scene.client.call('ListSandboxes', { codebase_id: codebase.id });
      for (const sandbox of sandboxes) expect(await seen(scene, sandbox)).toBe(whole(1));
    }
    await scene.client.call('Fork', { sandbox_id: parent.id, count: 3 });
    await scene.client.call('DestroySandbox', { sandbox_id: parent.id });
    scene = await killedAfter(0, scene, async () => undefined);
    const { sandboxes } = await scene.client.call('ListSandboxes', { codebase_id: codebase.id });
    expect(sandboxes.length).toBeGreaterThanOrEqual(3);
    for (const sandbox of sandboxes) {
      expect(sandbox.status).not.toBe('SANDBOX_ERROR');
      expect(await seen(scene, sandbox)).toBe(whole(1));
      await scene.output(sandbox, fill(2));
      expect(await seen(scene, sandbox)).toBe(whole(2));
    }
    await endAll(scene, codebase.id);
  }, 300_000);
});
