import { expect, it } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { CallError } from '../contract/client.ts';
import type { Scene } from '../contract/scene.ts';
import { BOMBS, type Bomb } from './bombs.ts';
import { probeBeside } from './probe.ts';
import { attacks } from './suite.ts';

const MIB = 1024 * 1024;
/** Generous limits for a busy machine. `npm run bench:bombs` measures the latency on a quiet one. */
const HEALTH_MS = 10_000;
const EXEC_MS = 20_000;
const MOST_GROWTH = 200 * MIB;

attacks(
  'bombs',
  (target) => {
    it.each(BOMBS.map((bomb) => [`${bomb.row}: ${bomb.name}`, bomb] as const))(
      '%s: affects its own sandbox only, while the server answers and other sandboxes run commands',
      async (_, bomb) => {
        const { scene, server } = target;
        const other = await scene.sandboxOn({ 'probe.txt': 'x' });
        const sandbox = await scene.sandboxOn({}, undefined, { resources: bomb.resources ?? {} });
        const before = server.rss();
        const attack = explode(scene, sandbox, bomb);
        const { health, exec } = await probeBeside(scene, other, attack);
        expect(await attack).toMatch(bomb.ends);
        expect(Math.max(...health)).toBeLessThan(HEALTH_MS);
        expect(Math.max(...exec)).toBeLessThan(EXEC_MS);
        expect(server.rss() - before).toBeLessThan(MOST_GROWTH);
        // The attacking sandbox may be full or in error: a new start empties everything but the workspace.
        const dead = (error: unknown) => expect(error).toMatchObject({ code: 'FAILED_PRECONDITION' });
        await scene.client.call('StopSandbox', { sandbox_id: sandbox.id }).catch(dead);
        await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
        expect(await scene.output(sandbox, 'echo alive')).toBe('alive\n');
      },
    );
  },
  { limits: { exec_output_bytes: MIB } },
);

async function explode(scene: Scene, sandbox: Sandbox, { command, stdin = '', timeout }: Bomb): Promise<string> {
  try {
    const { exit_code, stderr, stdout } = await scene.run(sandbox, command, { stdin, timeout });
    return `exit ${exit_code}: ${stderr.slice(-2000)}${stdout.slice(-2000)}`;
  } catch (error) {
    if (error instanceof CallError) return `${error.code}: ${error.message}`;
    throw error;
  }
}
