import { toText } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { S_IFREG } from '../../linux/mode.ts';
import { REDACTED } from '../../permissions/index.ts';
import type { Redactor } from '../../permissions/redactors.ts';
import { Placeholders } from '../../redaction/placeholders.ts';
import { HIDDEN_FORM, MAX_REDACTED_BYTES, type RedactedForm, redacting } from '../../redaction/redacted-form.ts';
import { redactorOf } from '../../redaction/redactor-of.ts';
import type { Access } from '../access/access.ts';
import { redactionKey } from '../delta/redaction-key.ts';
import { versionOf } from '../files/version.ts';
import type { Node } from '../nodes/node.ts';
import { readOriginal } from '../operations/original.ts';
import type { Workspace } from '../workspace.ts';

/** Whether this access sees a file with placeholders only. */
export function isRedacted(access: Access, node: Node): boolean {
  return access.level(node) === REDACTED && node.type === S_IFREG;
}

/**
 * The form of a file with placeholders. Throws host errors, ESTALE if the base file was replaced, and Postponed while a
 * large file is looked at.
 */
export function redactedForm(workspace: Workspace, node: Node): RedactedForm {
  const redactor = redactorFor(node);
  const version = `${redactor} ${versionOf(node)}`;
  const known = workspace.shared.nodes.forms.get(node, version);
  if (known !== undefined) return known;
  return workspace.computeOrPostpone([redactedForm, node, version], () => making(workspace, node, version, redactor));
}

/** As `redactedForm`, in steps. The caller holds the workspace. */
export function* findingForm(workspace: Workspace, node: Node): Steps<RedactedForm> {
  const redactor = redactorFor(node);
  const version = `${redactor} ${versionOf(node)}`;
  return workspace.shared.nodes.forms.get(node, version) ?? (yield* making(workspace, node, version, redactor));
}

/** Whether the form of a file is known, so that its size takes no time. */
export function hasForm(workspace: Workspace, node: Node): boolean {
  return workspace.shared.nodes.forms.get(node, `${redactorFor(node)} ${versionOf(node)}`) !== undefined;
}

function* making(workspace: Workspace, node: Node, version: string, redactor: Redactor): Steps<RedactedForm> {
  const form = yield* formOf(workspace, node, redactor);
  workspace.shared.nodes.forms.set(node, version, form);
  return form;
}

function* formOf(workspace: Workspace, node: Node, redactor: Redactor): Steps<RedactedForm> {
  const { size } = node.shown;
  if (size > MAX_REDACTED_BYTES || redactor === 'all') return HIDDEN_FORM;
  const contents = Buffer.allocUnsafeSlow(size);
  const length = readOriginal(workspace, node, 0, contents);
  yield;
  return yield* redacting(contents.subarray(0, length), redactor, placeholdersOf(workspace));
}

const PLACEHOLDERS = new WeakMap<Workspace, Placeholders>();

function placeholdersOf(workspace: Workspace): Placeholders {
  const known = PLACEHOLDERS.get(workspace);
  if (known !== undefined) return known;
  const made = new Placeholders(redactionKey(workspace.spec.delta));
  PLACEHOLDERS.set(workspace, made);
  return made;
}

/** That of the rule of its path, or by its name. Of several names any will do: each hides what it does not know. */
function redactorFor(node: Node): Redactor {
  const link = node.links[0] ?? node.lastLink;
  if (link === undefined) return 'all';
  const { redactor = '' } = link.parent.agentRuleOf(link.name);
  return redactor === '' ? redactorOf(toText(link.name)) : (redactor as Redactor);
}
