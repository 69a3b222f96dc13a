import type { Refusal } from 'paddock-sandbox/local';
import type { Output } from '../output/output.ts';
import { printableName, quotedName } from '../output/printable.ts';
import { counted } from '../review/changes.ts';
import type { Brought } from './bring.ts';

/** Says why something did not come, and how it does. */
export function tellLeftOut({ path, reason, allow, option }: { path: string } & Refusal, out: Output): void {
  const larger = option === undefined ? '' : '; "paddock pull" brings it with a larger --max-bytes';
  const how = allow === undefined ? larger : `; --take ${quotedName(allow)} brings it`;
  out.note(`${out.paintError.yellow('left out')} ${quotedName(path)}: ${printableName(reason)}${how}`);
}

/** Says what became of the changes. Returns whether some that were to be brought are not here. */
export function report(brought: Brought, out: Output, { dryRun = false } = {}): boolean {
  const { applied, merged, conflicts, skipped, failed } = brought;
  const { red, yellow } = out.paintError;
  const verb = dryRun ? 'would be applied' : 'applied';
  out.note(`${counted(applied.length + merged.length, 'change')} ${verb}`);
  if (dryRun) for (const path of applied) out.note(`  ${quotedName(path)}`);
  for (const path of merged)
    out.note(`${yellow('merged')} ${quotedName(path)}: it was edited here, too, at other lines`);
  for (const path of conflicts)
    out.note(
      `${red('conflict')} ${quotedName(path)}: it was edited here or committed since, or was renamed with a path that does not come, and stays as it is; "paddock pull --replace" takes the sandbox's`,
    );
  for (const each of skipped) tellLeftOut(each, out);
  for (const { path, error } of failed)
    out.note(`${red('failed')} ${quotedName(path)}: ${printableName(error.message)}`);
  return conflicts.length + failed.length > 0;
}
