import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hostSizes } from './host-sizes.ts';
import { Sandbox } from './sandbox.ts';

const SLAB = '0/slab-4096';
const slabOf = (s: Sandbox) => readFileSync(join(s.spec.delta, 'data', SLAB), 'latin1');
const fill = (length: number, from = 'abcdefg') => from.repeat(Math.ceil(length / from.length)).slice(0, length);

describe('small files', () => {
  it('share host files', () => {
    const s = new Sandbox();
    for (let i = 0; i < 300; i++) s.create(`f${i}`, `content of ${i}`);
    expect(Object.keys(hostSizes(s))).toEqual([SLAB]);
    for (let i = 0; i < 300; i++) expect(s.read(`f${i}`)).toBe(`content of ${i}`);
  });

  it('that grow in steps keep their contents, before and after a kill', () => {
    const s = new Sandbox();
    s.create('f');
    const content = fill(150_000);
    for (let at = 0; at < content.length; at += 3000) {
      s.write('f', content.slice(at, at + 3000), at);
      if (at % 30_000 === 0) s.restart();
      expect(s.stat('f').size).toBe(Math.min(content.length, at + 3000));
    }
    s.restart();
    expect(s.fs.usage('sb_1').bytes).toBe(content.length);
    const into = Buffer.alloc(200_000);
    const length = s.fs.read(s.caller, s.id('f'), 0, into);
    expect(into.toString('latin1', 0, length)).toBe(content);
  });

  it('copied up from the codebase are complete, and are in a slab', () => {
    const s = new Sandbox({ f: fill(10_000) });
    s.write('f', 'X', 9_999);
    s.restart();
    expect(s.read('f')).toBe(`${fill(9_999)}X`);
    expect(Object.keys(hostSizes(s))).toEqual(['0/slab-16384']);
  });

  it('show nothing of the earlier contents of their slot', () => {
    const s = new Sandbox();
    s.create('old', fill(4096, 'secret'));
    s.unlink('old');
    s.forgetAll();
    s.create('grown', 'a');
    s.set('grown', { size: 1000 });
    s.create('gap');
    s.write('gap', 'b', 2000);
    expect(s.read('grown')).toBe(`a${'\0'.repeat(999)}`);
    expect(s.read('gap')).toBe(`${'\0'.repeat(2000)}b`);
    s.set('gap', { size: 1 });
    s.set('gap', { size: 2001 });
    expect(s.read('gap')).toBe('\0'.repeat(2001));
  });

  it('keep the time of their last write after a kill', () => {
    const s = new Sandbox();
    s.create('f', 'one');
    s.set('f', { mtime: { sec: 5, nsec: 6 } });
    s.write('f', 'two');
    const { mtime } = s.stat('f');
    s.restart();
    expect(s.stat('f').mtime).toEqual(mtime);
  });

  it('that are removed free their slot for others', () => {
    const s = new Sandbox();
    for (let i = 0; i < 1000; i++) {
      s.create('f', fill(3000));
      s.unlink('f');
      s.forgetAll();
    }
    expect(hostSizes(s)[SLAB] ?? 0).toBeLessThan(10 * 4096);
    expect(s.fs.usage('sb_1').bytes).toBe(0);
  });

  it('are not overwritten before their removal is on the disk', () => {
    const s = new Sandbox();
    const { nodeid } = s.create('kept', 'this was synced');
    s.fs.fsync(s.caller, nodeid, false);
    s.unlink('kept');
    s.forgetAll();
    s.create('next', 'another');
    expect(slabOf(s)).toContain('this was synced');
    s.fs.syncAll();
    s.create('then', 'a third one, longer');
    expect(slabOf(s)).not.toContain('this was synced');
  });

  it('that grew in their slot since a sync are not overwritten before their next one', () => {
    const s = new Sandbox();
    const { nodeid } = s.create('kept', 'this was synced');
    s.fs.fsync(s.caller, nodeid, false);
    s.write('kept', ' and more', 15);
    s.write('kept', 'THIS WAS SYNCED AND MORE');
    s.create('next', 'another');
    expect(slabOf(s)).toContain('this was synced');
    s.create('removed', 'this is not synced');
    s.write('removed', ' yet', 18);
    s.fs.syncAll();
    s.write('removed', ' nor this', 22);
    s.unlink('removed');
    s.forgetAll();
    s.create('then', 'a third one');
    expect(slabOf(s)).toContain('this is not synced yet');
  });

  it('that are truncated keep their slot, and contents that a record on the disk may name', () => {
    const s = new Sandbox();
    const synced = fill(3000);
    const { nodeid } = s.create('f', synced);
    s.fs.fsync(s.caller, nodeid, false);
    s.set('f', { size: 1000 });
    expect(hostSizes(s)[SLAB]).toBe(3000);
    expect(s.read('f')).toBe(fill(1000));
    s.write('f', 'grown', 1000);
    expect(slabOf(s).slice(0, 3000)).toBe(synced);
    s.set('f', { size: 500 });
    s.set('f', { size: 600 });
    s.restart();
    expect(s.read('f')).toBe(fill(500) + '\0'.repeat(100));
  });

  it('that are truncated to a small part of their slot move to a smaller one', () => {
    const s = new Sandbox();
    s.create('f', fill(65_536));
    s.set('f', { size: 4097 });
    expect(hostSizes(s)['0/slab-16384']).toBeUndefined();
    s.set('f', { size: 4096 });
    expect(hostSizes(s)[SLAB]).toBe(4096);
    expect(s.read('f')).toBe(fill(4096));
  });

  it('free space on the host’s disk when most of them are removed', () => {
    const s = new Sandbox();
    const count = 10_000;
    for (let i = 0; i < count; i++) s.create(`f${i}`, `content of ${i}`);
    const before = hostSizes(s)[SLAB]!;
    // The last ones are kept.
    for (let i = 0; i < count - 1000; i++) s.unlink(`f${i}`);
    s.forgetAll();
    expect(hostSizes(s)[SLAB]!).toBeLessThan(before * 0.7);
    s.restart();
    for (let i = count - 1000; i < count; i++) expect(s.read(`f${i}`)).toBe(`content of ${i}`);
  });
});
