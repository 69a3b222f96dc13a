import { type ByteString, splitPath } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { isRedactedLevel, NONE, type RuleState } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import { committedText, shownText } from '../redacted/committed-text.ts';
import type { RedactedTexts, WorkspaceChange } from '../workspaces.ts';
import { compare, sideOf } from './compare.ts';
import type { Present } from './present.ts';
import { sameMode } from './same-as-base.ts';

/**
 * As `compare`, at a path with these rules: of a file of the agent's text the contents are those of a commit. Only one that
 * is as the agent was shown the codebase's is unchanged: otherwise the agent could guess values and see which are right.
 */
export function* compareAt(
  workspace: LayeredWorkspace,
  path: ByteString,
  rule: RuleState,
  now: Present | undefined,
  was: BaseStat | undefined,
  sameBytes?: boolean,
): Steps<WorkspaceChange | undefined, undefined> {
  if (!isRedactedLevel(rule.level)) return yield* compare(workspace, path, now, was, sameBytes);
  const { inode } = now ?? {};
  const isFile = inode !== undefined && !inode.isDirectory && was !== undefined;
  const text = isFile ? yield* committedText(workspace, path, rule, inode, was) : undefined;
  if (text === undefined || !isFile) return yield* compare(workspace, path, now, was);
  if (text.unchanged && sameMode(inode.mode, was.mode)) return undefined;
  const compared = yield* compare(workspace, path, now, was);
  const { hostFile: _, small: __, ...rest } = compared?.now ?? { ...sideOf(inode), version: [inode.id, inode.writes] };
  const rated = compared ?? { conflict: false, level: NONE, writable: false };
  const change: WorkspaceChange = {
    ...rated,
    path,
    kind: 'modified',
    contentChanged: !text.unchanged,
    base: sideOf(was),
  };
  const { bytes, losesValues } = text;
  return { ...change, now: { ...rest, size: bytes.length, isText: true, losesValues } };
}

/** See `WorkspaceOperations.redactedTexts`. */
export function* redactedTexts(
  workspace: LayeredWorkspace,
  path: ByteString,
  as: 'agent' | 'commit',
): Steps<RedactedTexts> {
  const rule = workspace.stateOf(path);
  const was = workspace.base.lstat(path);
  let inode = workspace.delta.table.get(ROOT_ID);
  for (const name of splitPath(path)) inode = inode?.entries?.get(name) ?? undefined;
  if (as === 'commit') {
    const isFile = inode !== undefined && was !== undefined;
    const text = isFile ? yield* committedText(workspace, path, rule, inode!, was) : undefined;
    return text === undefined ? {} : { now: new Uint8Array(text.bytes) };
  }
  const now = inode && (yield* shownText(workspace, path, rule, inode));
  const base = was && (yield* shownText(workspace, path, rule, { base: was }));
  return { ...(now && { now: new Uint8Array(now) }), ...(base && { base: new Uint8Array(base) }) };
}
