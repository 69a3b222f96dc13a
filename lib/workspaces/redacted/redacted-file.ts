import { type ByteString, toText } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { S_IFREG } from '../../linux/mode.ts';
import { isRedactedLevel, MERGED, type RuleState } from '../../permissions/index.ts';
import type { Redactor } from '../../permissions/redactors.ts';
import {
  EMPTY_FORM,
  HIDDEN_FORM,
  MAX_REDACTED_BYTES,
  type RedactedForm,
  redacting,
} from '../../redaction/redacted-form.ts';
import { redactorOf } from '../../redaction/redactor-of.ts';
import type { Access } from '../access/access.ts';
import { SMALL } from '../delta/contents/slabs.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { keysOf } from './placeholder-keys.ts';

/** Whether this access sees a file with placeholders only. */
export function isRedacted(access: Access, node: Node): boolean {
  return node.type === S_IFREG && isRedactedLevel(access.level(node)) && !node.isAgentText;
}

/**
 * The form of a file with placeholders. Throws host errors, ESTALE if the base file was replaced, and Postponed while a
 * large file is looked at.
 */
export function redactedForm(workspace: Workspace, node: Node): RedactedForm {
  const kind = kindFor(node);
  const version = versionOfForm(node, kind);
  const known = workspace.shared.nodes.forms.get(node, version);
  if (known !== undefined) return known;
  return workspace.computeOrPostpone([redactedForm, node, version], () => making(workspace, node, version, kind));
}

/** As `redactedForm`, in steps. The caller holds the workspace. */
export function* findingForm(workspace: Workspace, node: Node): Steps<RedactedForm> {
  const kind = kindFor(node);
  const version = versionOfForm(node, kind);
  return workspace.shared.nodes.forms.get(node, version) ?? (yield* making(workspace, node, version, kind));
}

/** Whether the form of a file is known, so that its size takes no time. */
export function hasForm(workspace: Workspace, node: Node): boolean {
  return workspace.shared.nodes.forms.get(node, versionOfForm(node, kindFor(node))) !== undefined;
}

/** Whether the form of a base file can become the agent's text, which is then changed. */
export function mayTakeAsText(workspace: Workspace, node: Node): boolean {
  const { isHidden, bytes } = redactedForm(workspace, node);
  return !isHidden && bytes.length <= SMALL;
}

/** How the values of a file are found and replaced. */
export interface FormKind {
  redactor: Redactor;
  /** The rule has `on_write` "merge": placeholders are bound to their keys. See `Placeholders.bound`. */
  bound: boolean;
}

/** By the rules of its path, or its name. */
export function kindAt({ level, redactor = '' }: RuleState, name: ByteString): FormKind {
  return { redactor: redactor === '' ? redactorOf(toText(name)) : (redactor as Redactor), bound: level === MERGED };
}

/** Of several names any will do: each hides what it does not know. */
function kindFor(node: Node): FormKind {
  const link = node.links[0] ?? node.lastLink;
  return link === undefined ? { redactor: 'all', bound: false } : kindAt(link.parent.agentRuleOf(link.name), link.name);
}

function versionOfForm(node: Node, { redactor, bound }: FormKind): string {
  return `${bound ? 'b' : 'r'} ${redactor} ${node.version}`;
}

function* making(workspace: Workspace, node: Node, version: string, kind: FormKind): Steps<RedactedForm> {
  const form = yield* formOf(workspace, node, kind);
  workspace.shared.nodes.forms.set(node, version, form);
  return form;
}

function* formOf(workspace: Workspace, node: Node, { redactor, bound }: FormKind): Steps<RedactedForm> {
  const { size } = node.shown;
  if (size === 0) return EMPTY_FORM;
  if (size > MAX_REDACTED_BYTES || redactor === 'all') return HIDDEN_FORM;
  const contents = Buffer.allocUnsafeSlow(size);
  const length = workspace.stored.contents.read(node, 0, contents);
  yield;
  const { own } = keysOf(workspace);
  return yield* redacting(contents.subarray(0, length), redactor, bound ? own.bound : own);
}
