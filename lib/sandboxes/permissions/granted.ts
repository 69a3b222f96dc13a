import { withBreaks } from '../../breaks.ts';
import { type ByteString, fromText, ROOT_PATH } from '../../byte-string.ts';
import type { PermissionRule } from '../../contract/messages.ts';
import { compiling, NONE, type RuleSet } from '../../permissions/index.ts';
import type { Granted } from '../../services.ts';

/** Rules that are looked at for each permission: whoever reads the patterns reads a few, and a sandbox may have 10,000 rules. */
const MOST_RULES = 200;

interface Ruled {
  permissions: readonly PermissionRule[];
  network?: { mode: string };
}

/**
 * The mode of the network, and the patterns of the first rules that grant something, for the agent itself: without scratch, and without a pattern below a path
 * that the rules hide, which it would name.
 */
export async function grantedBy({ permissions, network }: Ruled): Promise<Granted> {
  const rules = await withBreaks(compiling(permissions));
  const patterns = (permission: PermissionRule['permission']) => {
    const granting = permissions.filter((rule) => rule.permission === permission && !rule.scratch && !rule.contents);
    const shown = granting.slice(0, MOST_RULES).filter((rule) => isShown(rule, rules));
    return [...new Set(shown.map(({ pattern }) => pattern.replace(/^\//, '')))];
  };
  return { write: patterns('PERMISSION_WRITE'), read: patterns('PERMISSION_READ'), network: network?.mode ?? '' };
}

function isShown({ pattern }: PermissionRule, rules: RuleSet): boolean {
  const path = literalPart(pattern);
  return path === ROOT_PATH || rules.state(path).level > NONE;
}

/** The names before the first one with a special character. */
function literalPart(pattern: string): ByteString {
  const names = pattern.split('/').filter((name) => name !== '');
  const special = names.findIndex((name) => /[*?[\]{}\\]/.test(name));
  return fromText(names.slice(0, special < 0 ? names.length : special).join('/'));
}
