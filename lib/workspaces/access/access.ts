import type { ByteString } from '../../byte-string.ts';
import { S_IFREG } from '../../linux/mode.ts';
import { type Level, MERGED, REDACTED, type RuleState, WRITE } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';

/** The authority by which an operation decides. Every operation takes it as a parameter; there is no ambient one. */
export interface Access {
  readonly actor: 'agent' | 'owner';
  /**
   * The level of a node: NONE (hidden), VIEW, REDACTED, MERGED, READ or WRITE. MERGED: a file of the base, which must become
   * the agent's text before it is changed (`takeAsText`). Directories, symlinks and files of that text have WRITE instead;
   * other files of the delta, whose values no commit could put back, REDACTED.
   */
  level(node: Node): Level;
  /** The rules of a directory by its path. */
  rule(dir: Node): RuleState;
  /** The rules of a name in a directory. */
  ruleOf(dir: Node, name: ByteString): RuleState;
  /** The rules of the entries of a directory; single entries may have a higher level. */
  shownRule(dir: Node): RuleState;
}

/** The access of the sandbox by its rules; the only access of the kernel's requests. */
export class AgentAccess implements Access {
  readonly actor = 'agent';

  level(node: Node): Level {
    return node.agentLevel === MERGED ? levelOfMerged(node) : (node.agentLevel as Level);
  }

  rule(dir: Node): RuleState {
    return dir.requireAgentRule();
  }

  ruleOf(dir: Node, name: ByteString): RuleState {
    return dir.agentRuleOf(name);
  }

  shownRule(dir: Node): RuleState {
    return dir.agentShownRule;
  }
}

function levelOfMerged(node: Node): Level {
  if (node.type !== S_IFREG) return WRITE;
  if (node.isOwn) return node.isAgentText ? WRITE : REDACTED;
  // Its other links would change with it.
  return node.nameCount > 1 ? REDACTED : MERGED;
}

/** The one `AgentAccess`; it has no state. */
export const AGENT = new AgentAccess();

/**
 * The rules for entries of a directory, including entries that the sandbox adds: a directory in the delta may hold more
 * than the entries of the base.
 */
export function ownRule(access: Access, dir: Node): RuleState {
  return dir.isOwn ? access.rule(dir) : access.shownRule(dir);
}
