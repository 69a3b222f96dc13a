import { randomBytes } from 'node:crypto';

/** The directory of a layer: its contents and, once frozen, the index of the delta at that time. */
export function layerPath(root: string, layer: string): string {
  return `${root}/${layer}`;
}

/** The index of a frozen layer: an immutable journal. */
export function indexPath(root: string, layer: string): string {
  return `${layerPath(root, layer)}/index`;
}

/**
 * Returns a new name for a layer of the delta whose layers begin with `prefix`. Shared layers get a random part, so
 * that a name is never reused, even if the delta and its layers were lost: a fork may still use the old layer.
 */
export function newLayer(prefix: string, before = -1): string {
  return prefix === '' ? `${before + 1}` : `${prefix}${before + 1}-${randomBytes(9).toString('hex')}`;
}

/** Returns how many layers the delta had before this one. */
export function countOf(prefix: string, layer: string): number {
  return Number.parseInt(layer.slice(prefix.length), 10) || 0;
}
