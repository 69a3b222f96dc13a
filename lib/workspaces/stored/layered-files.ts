import type { LayeredWorkspace } from '../layered-workspace.ts';
import { LayeredContents } from './layered-contents.ts';
import { LayeredListings } from './layered-listings.ts';
import { LayeredNames } from './layered-names.ts';
import type { StoredFiles } from './stored-files.ts';

/** The files of a workspace that is a delta over a base. */
export function layeredFiles(workspace: LayeredWorkspace): StoredFiles {
  return {
    names: new LayeredNames(workspace),
    contents: new LayeredContents(workspace),
    listings: new LayeredListings(workspace),
  };
}
