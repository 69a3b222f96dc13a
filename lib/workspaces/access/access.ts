import type { ByteString } from '../../byte-string.ts';
import type { Level, RuleSet, RuleState } from '../../permissions/index.ts';
import type { Node } from '../nodes/node.ts';

/** By whose authority an operation decides. It is given to each operation as a value; nothing else grants any. */
export interface Access {
  readonly actor: 'agent' | 'owner';
  /** What may be done with a node: NONE (hidden) to WRITE. */
  level(node: Node): Level;
  /** The rules of a directory's path. */
  rule(dir: Node): RuleState;
  /** The rules of a name in a directory. */
  ruleOf(dir: Node, name: ByteString): RuleState;
  /** The rules of all that a directory shows; single names may have more. */
  shownRule(dir: Node): RuleState;
  /** The rules of the base directory that a renamed directory shows, where these count beside those of its path. */
  baseRule(dir: Node): RuleState | undefined;
  /** The same of a path in the base; undefined: there is none, or it does not count. */
  baseRuleAt(rules: RuleSet, basePath: ByteString | undefined): RuleState | undefined;
}

/** The sandbox, by its rules. The only access of the kernel's requests. */
export class AgentAccess implements Access {
  readonly actor = 'agent';

  level(node: Node): Level {
    return node.agentLevel as Level;
  }

  rule(dir: Node): RuleState {
    return dir.agentRule!;
  }

  ruleOf(dir: Node, name: ByteString): RuleState {
    return dir.agentRuleOf(name);
  }

  shownRule(dir: Node): RuleState {
    return dir.agentShownRule;
  }

  baseRule(dir: Node): RuleState | undefined {
    return dir.baseRule;
  }

  baseRuleAt(rules: RuleSet, basePath: ByteString | undefined): RuleState | undefined {
    return basePath === undefined ? undefined : rules.state(basePath);
  }
}

export const AGENT = new AgentAccess();

/** A directory that the sandbox made or changed may hold more than what it shows of the base. */
export function ownRule(access: Access, dir: Node): RuleState {
  return dir.inode === undefined ? access.shownRule(dir) : access.rule(dir);
}
