import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { NO_LIMITS } from '../../../lib/limits/limits.ts';
import { OwnerDeltas } from '../../../lib/sandboxes/host/owner-deltas.ts';
import type { OwnerBytes } from '../../../lib/workspaces/delta/owner-bytes.ts';
import { outcome, Sandbox } from './sandbox.ts';

let limit: number;
let deltas: OwnerDeltas;
let first: Sandbox;
let second: Sandbox;

/** Sets the limit of ann and bob. */
function setLimit(bytes: number): void {
  limit = bytes;
  deltas.limitChanged('ann');
}

function sandboxOf(owner: string, bytes = 0): Sandbox {
  const s = new Sandbox({ base: 'x'.repeat(40), other: 'o' });
  mkdirSync(join(s.home, 'layers'));
  s.goOn({ ...s.spec, layers: join(s.home, 'layers'), ownerBytes: deltas.add(owner, bytes)! });
  return s;
}

const ofOwner = () => Number(first.spec.ownerBytes!.owner[0]);
const put = (s: Sandbox, path: string, bytes: number) => outcome(() => s.create(path, 'x'.repeat(bytes)));
const fileError = (act: () => unknown) => expect(act).toThrow(/what all sandboxes of the owner may keep together/);

beforeEach(() => {
  limit = 100;
  deltas = new OwnerDeltas({
    of: () => ({ ...NO_LIMITS, delta_bytes: limit }),
    placeOf: (_owner, name) => `limits.per_owner.${name}`,
  });
  first = sandboxOf('ann');
  second = sandboxOf('ann');
});

describe('the limit of an owner', () => {
  it('is for writes in all its sandboxes together, and for no other owner', () => {
    first.create('a', 'x'.repeat(70));
    expect(put(second, 'b', 31)).toBe('EDQUOT');
    expect(put(second, 'c', 30)).not.toBe('EDQUOT');
    expect(ofOwner()).toBe(100);
    expect(outcome(() => first.write('a', 'x', 70))).toBe('EDQUOT');
    expect(outcome(() => second.write('base', 'x'))).toBe('EDQUOT');
    first.write('a', 'overwritten');
    expect(put(sandboxOf('bob'), 'b', 100)).not.toBe('EDQUOT');
    deltas.add('', 1000);
    expect(deltas.add('', 1000)).toBeUndefined();
    expect(outcome(() => first.write('a', 'x', 70))).toBe('EDQUOT');
  });

  it('has room again after a removal, a truncation and a discard in another sandbox', () => {
    first.create('a', 'x'.repeat(50));
    first.create('b', 'x'.repeat(50));
    expect(put(second, 'c', 30)).toBe('EDQUOT');
    first.unlink('a');
    first.forgetAll();
    second.write('c', 'x'.repeat(50));
    expect(put(second, 'd', 20)).toBe('EDQUOT');
    first.set('b', { size: 30 });
    second.write('d', 'x'.repeat(20));
    first.fs.revert(first.spec.id, [fromText('b')]);
    first.forgetAll();
    expect(ofOwner()).toBe(70);
    expect(put(second, 'e', 30)).not.toBe('EDQUOT');
  });

  it('counts what checkpoints retain, and leaves a rollback possible', () => {
    setLimit(0);
    first.create('a', 'x'.repeat(50));
    const { layer } = first.fs.freeze(first.spec.id, true);
    first.fs.setCheckpoints(first.spec.id, [layer]);
    setLimit(ofOwner() + 49);
    expect(outcome(() => first.write('a', 'other'))).toBe('EDQUOT');
    setLimit(ofOwner() + 50);
    first.write('a', 'other');
    expect(ofOwner()).toBe(limit);
    expect(first.fs.usage(first.spec.id).bytes).toBe(limit);
    setLimit(10);
    expect(() => first.fs.freeze(first.spec.id, true)).toThrow(/would keep more bytes than they may together/);
    first.fs.rollback(first.spec.id, layer);
    expect(first.read('a')).toBe('x'.repeat(50));
    first.fs.setCheckpoints(first.spec.id, []);
    expect(ofOwner()).toBe(50);
  });

  it('leaves removals, changes of modes and discards possible above it', () => {
    first.create('a', 'x'.repeat(50));
    first.create('b', 'x'.repeat(50));
    setLimit(1);
    first.set('a', { mode: 0o600 });
    first.rename('a', 'c');
    first.unlink('c');
    first.unlink('other');
    first.fs.revert(first.spec.id, [fromText('b')]);
    first.forgetAll();
    expect(ofOwner()).toBe(0);
  });

  it('is in force when it was set, 0: none', () => {
    setLimit(0);
    expect(put(first, 'a', 1000)).not.toBe('EDQUOT');
    setLimit(1000);
    expect(put(second, 'b', 1)).toBe('EDQUOT');
    setLimit(1001);
    second.write('b', 'x');
  });

  it('is named to clients of the API, and is the room that programs see', () => {
    first.create('a', 'x'.repeat(100));
    const handle = second.fs.files('sb_1', 'owner', 'stage', [new Uint8Array()]);
    fileError(() => second.fs.files('sb_1', 'owner', 'append', [handle, new Uint8Array(1)]));
    expect(second.fs.statfs(second.caller, second.id('')).bavail).toBe(0);
    setLimit(100 + 3 * 4096);
    expect(second.fs.statfs(second.caller, second.id('')).bavail).toBe(3);
  });
});

describe('the bytes of a delta that is not open', () => {
  it('count as last known, and as they are from its first use on', () => {
    first.create('a', 'x'.repeat(60));
    first.fs.detach(first.spec.id);
    expect(put(second, 'b', 41)).toBe('EDQUOT');
    const { ownerBytes: _, ...spec } = first.spec;
    deltas.remove('ann', first.spec.ownerBytes!);
    expect(ofOwner()).toBe(0);
    for (const known of [0, 90]) {
      // The next server, which knows nothing, or other bytes.
      const ownerBytes: OwnerBytes = deltas.add('ann', known)!;
      first.fs.attach({ ...spec, ownerBytes });
      expect(Number(ownerBytes.own[0])).toBe(known);
      first.fs.usage(spec.id);
      expect([Number(ownerBytes.own[0]), ofOwner()]).toEqual([60, 60]);
      first.fs.detach(spec.id);
      deltas.remove('ann', ownerBytes);
    }
  });

  it('do not count once the sandbox is destroyed, whatever its delta still does', () => {
    first.create('a', 'x'.repeat(60));
    deltas.remove('ann', first.spec.ownerBytes!);
    deltas.remove('ann', first.spec.ownerBytes!);
    expect(ofOwner()).toBe(0);
    first.unlink('a');
    first.forgetAll();
    first.create('b', 'x'.repeat(10));
    expect(ofOwner()).toBe(0);
    expect(put(second, 'c', 100)).not.toBe('EDQUOT');
    // Opened after it was destroyed.
    setLimit(0);
    first.goOn({ ...first.spec });
    first.create('d', 'x'.repeat(10));
    expect(ofOwner()).toBe(100);
  });
});
