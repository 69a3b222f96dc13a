import { withBreaks } from '../../breaks.ts';
import { compilingExcluded } from '../../permissions/index.ts';
import type { ChangeChoice } from '../../services.ts';
import type { ChangeSelection } from '../../workspaces/workspaces.ts';
import { chosenPaths } from './chosen-paths.ts';

/** The selection of a request for the file system. Throws INVALID_ARGUMENT naming `paths[i]` or `exclude[i]`. */
export async function selectionOf(choice: ChangeChoice): Promise<ChangeSelection> {
  const { paths = [], exclude = [], include_scratch: scratch = false } = choice;
  await withBreaks(compilingExcluded(exclude));
  return { paths: await chosenPaths(paths), exclude, scratch };
}
