import { bytes } from './bytes.ts';
import { Hold } from './disk.ts';
import { putWithParents, withoutFile } from './effects.ts';
import type { Plan } from './plan.ts';
import { planCall } from './plan-calls.ts';
import { planPrograms } from './plan-programs.ts';
import { isByPrograms, type Step } from './steps.ts';
import { file } from './tree.ts';
import type { World } from './world.ts';

/** undefined: there is nobody to make it. */
export function planStep(world: World, step: Step): Plan | undefined {
  switch (step[0]) {
    case 'upload': {
      const [, path, size] = step;
      const text = world.text(size);
      const run = () => world.server.codebases.upload(world.codebase, path, bytes(text));
      return { run, effect: { base: [putWithParents(world.base, path, file(text))] } };
    }
    case 'remove':
      return {
        run: () => world.server.codebases.removeFile(world.codebase, step[1]),
        effect: { base: [withoutFile(world.base, step[1])] },
      };
    case 'hold':
      return {
        run: () => {
          world.hold?.release();
          world.hold = new Hold(step[1]);
          world.server.context.reclaimLayers();
        },
      };
    case 'release':
      return {
        run: () => {
          world.hold?.release();
          world.hold = undefined;
        },
      };
    case 'restart':
      return { run: () => world.server.run.kill() };
    case 'kill': {
      const plan = planStep(world, step[2]);
      if (plan === undefined) return undefined;
      const run = async () => {
        // The call can end after the next server has started: only the server of this step is killed.
        const { run: server } = world.server;
        server.killAfter(step[1]);
        try {
          await plan.run();
        } finally {
          server.kill();
        }
      };
      return { ...plan, run };
    }
    case 'create sandbox': {
      const [, place, rules] = step;
      if (world.places[place] !== undefined) return undefined;
      return { run: () => world.createSandbox(place, rules) };
    }
  }
  const known = world.places[step[1]];
  if (known === undefined) return undefined;
  if (isByPrograms(step)) return planPrograms(world, known, known.tree!, step);
  return planCall(world, known, known.tree!, step);
}
