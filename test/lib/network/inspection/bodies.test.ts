import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { framed } from '../../../../lib/network/inspection/bodies.ts';
import { Needle } from '../../../../lib/network/inspection/needle.ts';
import { Replacer } from '../../../../lib/network/inspection/replacer.ts';

it.each([undefined, 65_536])(
  'a search for many texts (length %s) is done in steps, and others are served between',
  async (length) => {
    const replacements = Array.from({ length: 400 }, (_, at) => ({
      from: new Needle(`${'a'.repeat(1000 + at)}b`),
      to: Buffer.from('X'),
      name: '',
    }));
    let turns = 0;
    let counting: NodeJS.Immediate;
    const count = () => {
      turns++;
      counting = setImmediate(count);
    };
    counting = setImmediate(count);
    const { send } = await framed(Readable.from([Buffer.alloc(65_536, 'a')]), length, new Replacer(replacements));
    const sink = new PassThrough();
    await send(sink.resume());
    clearImmediate(counting);
    expect(turns).toBeGreaterThan(8);
  },
);
