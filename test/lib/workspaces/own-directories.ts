import { ROOT_PATH } from '../../../lib/byte-string.ts';
import type { OwnDirectory } from '../../../lib/workspaces/workspaces.ts';
import type { Sandbox } from './sandbox.ts';

export const EVERYTHING = {
  selection: { paths: [ROOT_PATH], exclude: [], scratch: true },
  withLeft: true,
  withOwn: true,
};

/** The directories of the delta that are not merged with the base at their own path. */
export const ownDirectories = ({ fs, spec }: Sandbox): OwnDirectory[] =>
  fs.changes(spec.id, ROOT_PATH, 0, EVERYTHING).own!;
