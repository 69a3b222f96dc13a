import type { Slot } from '../../../trees/format/keys.ts';
import { SLOT_CLASSES } from '../../delta/contents/slabs.ts';

/** The number of a slot among those of all slabs, as the store of contents counts them. */
export function slotNumber({ class: size, slot }: Pick<Slot, 'class' | 'slot'>): number {
  return slot * SLOT_CLASSES + size;
}

/** The reverse. */
export function slotPlace(number: number): Pick<Slot, 'class' | 'slot'> {
  return { class: number % SLOT_CLASSES, slot: Math.floor(number / SLOT_CLASSES) };
}
