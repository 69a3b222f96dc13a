import { findTools } from '../tools/find.ts';
import type { Check } from './check.ts';

/** Which programs in PATH a sandbox of the local server does not see. */
export function toolsCheck(env: Readonly<Record<string, string | undefined>>): Check {
  const { mounts, invisible } = findTools(env);
  const shown = mounts.length === 0 ? 'all in PATH are part of the system' : `seen read-only: ${mounts.join(', ')}`;
  const found = { name: 'tools', required: false };
  if (invisible.length === 0) return { ...found, state: 'ok', detail: shown };
  const hidden = invisible.map(({ path, reason }) => `${path} (${reason})`).join(', ');
  return {
    ...found,
    state: 'limited',
    detail: `${shown}; not seen: ${hidden}`,
    fix: 'paddock run --tools auto --tools PATH shows a path, too, with all that is below it',
  };
}
