import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { Descriptors } from '../../lib/descriptors.ts';

const none = () => Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
const open = () => readdirSync('/proc/self/fd').length;

describe('Descriptors', () => {
  const made: Descriptors[] = [];
  const make = () => {
    const descriptors = new Descriptors(1000);
    made.push(descriptors);
    return descriptors;
  };
  afterEach(() => {
    for (const descriptors of made.splice(0)) descriptors.close();
  });

  it('repeats a task that failed for lack of a descriptor with the reserve, and restores the reserve', () => {
    const before = open();
    const descriptors = make();
    const held = open();
    expect(held).toBeGreaterThan(before + 20);
    const seen: number[] = [];
    const task = () => {
      seen.push(open());
      if (seen.length === 1) throw none();
      return 'done';
    };
    expect(descriptors.use(task)).toBe('done');
    expect(seen).toEqual([held, before]);
    expect(open()).toBe(held);
  });

  it('runs a task once if it succeeds or fails for another reason', () => {
    const descriptors = make();
    let runs = 0;
    const failing = () => {
      runs++;
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    };
    expect(() => descriptors.use(failing)).toThrow('EIO');
    expect(descriptors.use(() => ++runs)).toBe(2);
  });

  it('passes on the error of a task that fails with the reserve too', () => {
    const descriptors = make();
    const held = open();
    expect(() =>
      descriptors.use(() => {
        throw none();
      }),
    ).toThrow('EMFILE');
    expect(open()).toBe(held);
  });

  it('keeps the reserve if descriptors are available', async () => {
    const descriptors = make();
    const held = open();
    expect(await descriptors.lend(async () => open())).toBe(held);
  });

  it('reserves a part for clients and for files', () => {
    const { commands, maxConnections } = make();
    expect(commands.total + maxConnections.rest + maxConnections.grpc).toBeLessThan(900);
  });
});
