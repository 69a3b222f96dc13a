/**
 * The part of the package that reads and writes local directories, loaded when it is used: it needs node:fs. Browsers
 * have another module in its place (`browser` in package.json).
 */
export function loadLocal(): Promise<typeof import('./local/index.ts')> {
  return import('./local/index.ts');
}
