import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Transfers } from '../../../lib/transfers.ts';
import { chunks, codeOf, Scratch } from './scratch.ts';

/** One download, or one upload, at a time. */
const DESCRIPTORS = 6;

describe('the descriptor budget of transfers', () => {
  let scratch: Scratch;
  let id: string;
  beforeEach(async () => {
    scratch = new Scratch();
    scratch.transfers = new Transfers(DESCRIPTORS, 20);
    await scratch.open();
    id = await scratch.codebase();
    await scratch.upload(id, 'a');
  });
  afterEach(() => scratch.remove());

  it('counts a download until it is closed and its last read has ended', async () => {
    const file = await scratch.codebases.open(id, 'a');
    const reading = file.read();
    expect(await codeOf(scratch.codebases.open(id, 'a'))).toBe('RESOURCE_EXHAUSTED');
    await file.close();
    expect(await codeOf(scratch.upload(id, 'b'))).toBe('RESOURCE_EXHAUSTED');
    await reading.toArray();
    await scratch.upload(id, 'b');
  });

  it('counts an upload while it is received', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    async function* content() {
      await opened;
      yield Buffer.from('x');
    }
    const upload = scratch.codebases.upload(id, 'b', content());
    expect(await codeOf(scratch.upload(id, 'c'))).toBe('RESOURCE_EXHAUSTED');
    open();
    await upload;
    await scratch.upload(id, 'c');
  });

  it('is restored after failed transfers', async () => {
    for (let count = 0; count < 4; count++) {
      expect(await codeOf(scratch.codebases.open(id, 'missing'))).toBe('NOT_FOUND');
      expect(await codeOf(scratch.codebases.upload(id, 'b', chunks('x', new Error('gone'))))).toBe('Error: gone');
    }
    await scratch.upload(id, 'b');
  });
});
