import { expect, it } from 'vitest';
import { probeFuse } from '../../../lib/fuse/connection/probe.ts';

it('probeFuse resolves if a FUSE mount is permitted', async () => {
  await expect(probeFuse()).resolves.toBeUndefined();
});
