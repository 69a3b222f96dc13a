import type { CreateOptions, PermissionRule } from 'paddock-sandbox';
import type { Tracked } from './tracked.ts';

/** Directories that presets make scratch, because git mostly ignores them. */
const USUALLY_IGNORED =
  /^(.*?\/)??(node_modules|\.venv|venv|dist|\.next|\.nuxt|\.svelte-kit|\.output|coverage|htmlcov|\.cache)(?=\/)/;
/** A request has room for more, and a review by names for fewer. */
const MOST = 1000;

/**
 * Rules for such directories that have files that git tracks: there a change is one like any other. They are as all other
 * files: what presets without write access let be read only, they do, too.
 */
export function rulesOfTracked({ files }: Tracked, { preset }: Pick<CreateOptions, 'preset'>): PermissionRule[] {
  if (preset !== 'development' && preset !== 'agent-safe') return [];
  const directories = new Set(files.flatMap((path) => USUALLY_IGNORED.exec(path)?.[0] ?? []));
  const permission = preset === 'development' ? 'write' : 'read';
  return [...directories].slice(0, MOST).map((pattern) => ({ pattern, type: 'directory', permission, priority: 0 }));
}
