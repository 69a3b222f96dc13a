import type { ByteString } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import type { RuleState } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';
import type { Listing } from '../nodes/listing.ts';
import {
  cachedListing,
  cheapListing,
  type Emptiness,
  emptiness,
  listMissedOften,
  mergedListing,
} from '../nodes/merged-listing.ts';
import { checkingBelow, requireWritableBelow } from './layered-subtrees.ts';
import type { StoredListings } from './stored-files.ts';

/** The directories of a workspace that is a delta over a base. */
export class LayeredListings implements StoredListings {
  readonly #workspace: LayeredWorkspace;

  constructor(workspace: LayeredWorkspace) {
    this.#workspace = workspace;
  }

  listed(dir: LayeredNode): Listing {
    return mergedListing(this.#workspace, dir);
  }

  listing(dir: LayeredNode): Steps<Listing, undefined> {
    return cachedListing(this.#workspace, dir);
  }

  aboutToLookUp(dir: LayeredNode): void {
    listMissedOften(this.#workspace, dir);
  }

  aboutToList(dir: LayeredNode, after: number, ruleOf: (name: ByteString) => RuleState): void {
    const { shared } = this.#workspace;
    if (dir.listing !== undefined) shared.ahead.plan(this.#workspace, dir, dir.listing, after, ruleOf);
  }

  emptiness(access: Access, dir: LayeredNode): Emptiness {
    return emptiness(this.#workspace, access, dir);
  }

  linkCount(dir: LayeredNode): number {
    const { inode, base, basePath } = dir;
    if (inode === undefined) return base!.nlink;
    if (basePath === undefined) return 2 + inode.subdirs;
    const listing = cheapListing(this.#workspace, dir);
    return listing === undefined ? 1 : 2 + listing.subdirs;
  }

  requireWritableBelow(access: Access, top: LayeredNode, to: RuleState): void {
    requireWritableBelow(this.#workspace, access, top, to);
  }

  checkingBelow(access: Access, top: LayeredNode, to: RuleState): Steps<void> {
    return checkingBelow(this.#workspace, access, top, to);
  }
}
