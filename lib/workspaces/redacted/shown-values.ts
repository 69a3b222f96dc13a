import { type ByteString, baseNameOf } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import type { RuleState } from '../../permissions/index.ts';
import { findingValues, MAX_REDACTED_BYTES, piecesOf, type Replaced } from '../../redaction/redacted-form.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { allPlaceholders } from './placeholder-keys.ts';
import { kindAt } from './redacted-file.ts';

/** A text of the agent, with the values of the codebase's file at the same path whose placeholders it has at any place. */
export function* placeholdersIn(
  workspace: Workspace,
  node: Node,
  path: ByteString,
  rule: RuleState,
): Steps<{ content: string; replaced: Replaced[] }> {
  const { contents } = workspace.stored;
  const { size } = node.shown;
  if (size > MAX_REDACTED_BYTES) return { content: '', replaced: [] };
  const text = Buffer.allocUnsafeSlow(size);
  const content = text.subarray(0, contents.read(node, 0, text)).toString('utf8');
  const replaced: Replaced[] = [];
  const present = new Set(content.match(/pdk[a-z2-7]{24}/g));
  const was = contents.codebaseFile(path, MAX_REDACTED_BYTES);
  if (was === undefined) return { content, replaced };
  const { redactor, bound } = kindAt(rule, baseNameOf(path));
  const found = yield* findingValues(was, redactor);
  for (const each of found === undefined ? [] : allPlaceholders(workspace)) {
    for (const { value } of yield* piecesOf(found!, bound ? each.bound : each)) {
      if (value !== undefined && present.has(value.placeholder.slice(-27))) replaced.push(value);
    }
  }
  return { content, replaced };
}
