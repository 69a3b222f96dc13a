import { bundle } from '../../../esbuild.config.mjs';
import { Server, State } from '../../contract/server.ts';

/**
 * One server for all tests of the adapters and the examples, which find it as any program does: by PADDOCK_URL. They start
 * after this, and inherit the variable.
 */
export default async function setup(): Promise<() => Promise<void>> {
  await bundle();
  const state = await State.create();
  const server = await Server.start(state);
  process.env.PADDOCK_URL = `http://${server.httpAddress}`;
  return async () => {
    await server.stop();
    const left = await state.leftovers();
    await state.remove();
    if (left.length > 0) throw new Error(`the server left ${left.join(', ')}`);
  };
}
