import { randomBytes } from 'node:crypto';

/** The directory of a layer: its contents and, once it is frozen, the index of what the delta was then. */
export function layerPath(root: string, layer: string): string {
  return `${root}/${layer}`;
}

/** A journal that is written to no more. */
export function indexPath(root: string, layer: string): string {
  return `${layerPath(root, layer)}/index`;
}

/**
 * A name for a layer of the delta whose layers begin with `prefix`. Among those that deltas share no name is ever used
 * again, whatever was lost of the delta and its layers: a fork may still live on the layer that had it.
 */
export function newLayer(prefix: string, before = -1): string {
  return prefix === '' ? `${before + 1}` : `${prefix}${before + 1}-${randomBytes(9).toString('hex')}`;
}

/** How many layers the delta had before this one. */
export function countOf(prefix: string, layer: string): number {
  return Number.parseInt(layer.slice(prefix.length), 10) || 0;
}
