import type { ChangeSelection, Sandbox } from 'paddock-sandbox';
import { repositoryOf } from '../../../../local-refusals/names.ts';
import type { Output } from '../output/output.ts';
import { quotedName } from '../output/printable.ts';
import { counted } from './changes.ts';
import { Home } from './home.ts';

const MOST_LINES = 20;

/**
 * Before a patch or an archive: names the chosen changes that `pull` would leave out of the working directory. The threat:
 * the program that unpacks them does not judge them, and others run what it wrote.
 */
export async function warnOfUnpacked(
  sandbox: Sandbox,
  { selection, format }: { selection: ChangeSelection; format: 'patch' | 'tar' },
  out: Output,
): Promise<void> {
  const home = new Home(process.cwd(), { git: false, allow: [] });
  const reasons = new Map<string, string>();
  for (const change of await sandbox.changes(selection)) {
    const { kind, path, type, losesValues } = change;
    const isRemoved = kind === 'deleted';
    if (isRemoved && !losesValues) continue;
    const refusal = await home.refusal({ path, type: type === 'other' ? 'file' : type, isRemoved, losesValues });
    if (refusal === undefined) continue;
    const names = path.split('/');
    const at = names.findIndex((name) => repositoryOf(name) !== undefined);
    // The server leaves it out of patches, which git would refuse.
    if (format === 'patch' && names.some((name) => repositoryOf(name) === '.git')) continue;
    reasons.set(refusal.allow ?? (at === -1 ? path : names.slice(0, at + 1).join('/')), refusal.reason);
  }
  if (reasons.size === 0) return;
  for (const [path, reason] of [...reasons].slice(0, MOST_LINES)) out.warn(`${quotedName(path)}: ${reason}`);
  const more = reasons.size - MOST_LINES;
  const others = more > 0 ? `and ${counted(more, 'path')} more; ` : '';
  out.warn(`${others}"paddock pull" leaves these out, "git apply" and "tar" do not`);
}
