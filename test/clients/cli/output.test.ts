import { expect, it } from 'vitest';
import { Output } from '../../../clients/cli/src/output/output.ts';

it('bytes that flow are asked for when those before them were read', async () => {
  const taken: (() => void)[] = [];
  const stdout = { write: (_: unknown, done?: () => void) => taken.push(done!) };
  const out = new Output({ stdout, stderr: { write: () => undefined }, env: {} }, { json: false });
  let asked = 0;
  async function* pieces() {
    for (; asked < 3; asked++) yield new Uint8Array(1);
  }
  const written = out.flow(pieces());
  for (let read = 0; read < 3; read++) {
    await expect.poll(() => taken.length).toBe(read + 1);
    expect(asked).toBe(read);
    taken[read]!();
  }
  await written;
});
