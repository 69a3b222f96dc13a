import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Turn } from '../../../lib/linux/shared-mappings.ts';
import type { RunningSandbox } from '../../../lib/runtime/runtime.ts';
import { MappedFiles } from '../../../lib/sandboxes/files/mapped-files.ts';

/** A sandbox whose look at its programs is `look`. */
const sandbox = (look: (turn: Turn) => Promise<void>) => ({
  attached: true,
  running: {
    sharedMappings: (_device: string, turn: Turn) => look(turn).then(() => new Map()),
  } as unknown as RunningSandbox,
});

it('programs that are waited for outside of a turn delay no look at other sandboxes', async () => {
  const files = new MappedFiles();
  for (let index = 0; index < 8; index++) {
    const never = new Promise<void>(() => {});
    void files.of(
      sandbox((turn) => turn(async () => undefined).then(() => never)),
      '0:1',
    );
  }
  const other = sandbox((turn) => turn(async () => undefined));
  expect((await files.of(other, '0:1'))?.size).toBe(0);
});

it('a sandbox that a look took long at is left alone for a while, also by other calls', async () => {
  const files = new MappedFiles();
  const order: string[] = [];
  const long = sandbox((turn) =>
    turn(async () => {
      order.push('long');
      await delay(60);
    }),
  );
  await files.of(long, '0:1');
  const again = files.of(long, '0:1');
  const other = files.of(
    sandbox((turn) => turn(async () => void order.push('other'))),
    '0:1',
  );
  await Promise.all([again, other]);
  expect(order).toEqual(['long', 'other', 'long']);
});
