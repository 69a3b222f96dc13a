import { SLOT_CLASSES } from '../../delta/contents/slabs.ts';
import { Damage } from '../../delta/damage.ts';
import { slotNumber } from './slot-places.ts';

/** Which slots are in use, as a root keeps it: for each class u32 bytes and a bit for each slot. */
export function encodeSlabMaps(used: readonly Buffer[]): Buffer {
  const parts = used.flatMap((bits) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bits.length);
    return [length, bits];
  });
  return Buffer.concat(parts);
}

/** The numbers of the slots in use. Throws Damage for bytes that are no maps. */
export function* slotsInUse(maps: Buffer): Generator<number, void, void> {
  let at = 0;
  for (let size = 0; size < SLOT_CLASSES; size++) {
    const length = at + 4 <= maps.length ? maps.readUInt32LE(at) : maps.length;
    at += 4;
    if (at + length > maps.length) throw new Damage('the maps of its slabs are none that a server writes');
    for (let byte = 0; byte < length; byte++)
      for (let bits = maps[at + byte]!, bit = 0; bits >> bit !== 0; bit++)
        if ((bits >> bit) & 1) yield slotNumber({ class: size, slot: byte * 8 + bit });
    at += length;
  }
}
