import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from './sandbox.ts';

/** Returns the sizes of the contents of a sandbox's delta on the host, by path, without empty files. */
export function hostSizes({ spec }: Sandbox): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const name of readdirSync(join(spec.delta, 'data'), { recursive: true, encoding: 'utf8' })) {
    const stat = lstatSync(join(spec.delta, 'data', name));
    if (stat.isFile() && stat.size > 0) sizes[name] = stat.size;
  }
  return sizes;
}
