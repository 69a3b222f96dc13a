import type { Sandbox } from '../../lib/contract/messages.ts';
import type { Scene } from '../contract/scene.ts';

export interface Probed {
  /** Milliseconds of each call. */
  health: number[];
  exec: number[];
}

/** Requests the server's health and runs a command in `other`, in turn, until `attack` has ended. Each must succeed. */
export async function probeBeside(scene: Scene, other: Sandbox, attack: Promise<unknown>): Promise<Probed> {
  let ended = false;
  const probed: Probed = { health: [], exec: [] };
  const repeat = async (times: number[], once: () => Promise<unknown>, pauseMs: number) => {
    do {
      const began = performance.now();
      await once();
      times.push(performance.now() - began);
      await new Promise((done) => setTimeout(done, pauseMs));
    } while (!ended);
  };
  const health = async () => {
    const { status } = await scene.rest.send('GET', '/health');
    if (status !== 200) throw new Error(`GET /health: ${status}`);
  };
  const probes = [
    repeat(probed.health, health, 10),
    repeat(probed.exec, () => scene.output(other, 'cat probe.txt'), 20),
  ];
  try {
    await attack;
  } finally {
    ended = true;
  }
  await Promise.all(probes);
  return probed;
}
