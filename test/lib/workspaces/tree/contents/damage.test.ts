import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestOf, slotOf } from '../../../../../lib/trees/format/keys.ts';
import { Damage } from '../../../../../lib/workspaces/delta/damage.ts';
import { OnHost } from './on-host.ts';

describe('damaged contents of a live tree', () => {
  let on: OnHost;
  beforeEach(() => {
    on = new OnHost();
  });
  afterEach(() => on.end());

  const refused = (name: string): string => {
    try {
      on.all(on.entry(name));
    } catch (error) {
      if (error instanceof Damage) return error.message;
      throw error;
    }
    return 'nothing';
  };

  const flip = (path: string, at: number): void => {
    const bytes = readFileSync(path);
    bytes[at]! ^= 1;
    writeFileSync(path, bytes);
  };

  it('in a slot are refused, whole and in parts, and are reported once; others are read', () => {
    for (const name of ['a', 'b']) {
      on.made(name);
      on.write(name, 0, `contents of ${name}`);
    }
    const { slot } = slotOf(on.entry('a').key)!;
    flip(`${on.folder}/deltas/own/data/slab-4096`, slot * 4096 + 3);
    expect(refused('a')).toBe(`a file is damaged: its contents do not match their checksum (slot ${slot} of class 0)`);
    expect(() => on.contents.read(on.entry('a'), 1, Buffer.alloc(2))).toThrow();
    expect(on.all(on.entry('b')).toString()).toBe('contents of b');
    expect(on.damages).toHaveLength(1);
  });

  it('in a data file that others have are refused if it is missing or shorter, and can be replaced', () => {
    for (const name of ['short', 'missing']) {
      on.made(name);
      on.write(name, 0, Buffer.alloc(100_000, name));
    }
    on.freeze(true);
    const folder = `${on.folder}/deltas/own/data/0`;
    const [short, missing] = readdirSync(folder).sort((a, b) => Number(a) - Number(b));
    truncateSync(`${folder}/${short}`, 80_000);
    rmSync(`${folder}/${missing}`);
    on.contents.close();
    expect(refused('short')).toBe(`a file is damaged: a part of its contents is missing (data file ${short})`);
    expect(refused('missing')).toBe(`a file is damaged: its contents are missing (data file ${missing})`);
    for (const name of ['short', 'missing']) {
      on.contents.truncate(on.own(name), 0);
      on.write(name, 0, 'new');
      expect(on.all(on.entry(name)).toString()).toBe('new');
    }
  });

  it('in the codebase are refused with the name of the object', () => {
    on.published('large', Buffer.alloc(100_000, 'l'));
    const object = digestOf(on.entry('large').key)!.toString('hex');
    rmSync(`${on.folder}/codebase/blobs/${object.slice(0, 2)}/${object}`);
    expect(refused('large')).toBe(`a file is damaged: its contents are missing (object ${object})`);
    on.published('small', Buffer.from('small'));
    const packs = `${on.folder}/codebase/packs`;
    for (const name of readdirSync(packs)) truncateSync(`${packs}/${name}`, 40);
    expect(refused('small')).toContain(`the object ${digestOf(on.entry('small').key)!.toString('hex')} is damaged`);
  });
});
