/** The directory of a layer: its contents and, once it is frozen, the index of what the delta was then. */
export function layerPath(root: string, layer: string): string {
  return `${root}/${layer}`;
}

/** A journal that is written to no more. */
export function indexPath(root: string, layer: string): string {
  return `${layerPath(root, layer)}/index`;
}
