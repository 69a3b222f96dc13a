import { complete, StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { Notifier } from '../../fuse/filesystem.ts';
import { S_IFREG } from '../../linux/mode.ts';
import { isRedactedLevel, type Level, type RuleSet, strictest, WRITE } from '../../permissions/index.ts';
import type { Node } from './node.ts';

/** Hard links of one file examined in one step. */
const LINKS_PER_STEP = 64;

/** The part of a workspace that the levels of its files need. */
export interface LevelsOwner {
  readonly rules: RuleSet;
  readonly shared: { readonly notifier: Notifier };
}

/** The levels of files: the strictest of all links of each. Those of files with several links are cached. */
export abstract class FileLevels<N extends Node = Node> {
  readonly #notifier: Notifier;

  constructor({ shared }: LevelsOwner) {
    this.#notifier = shared.notifier;
  }

  /** The strictest level of all links, known to the kernel or not; undefined: its node has all that count. */
  protected abstract ofAllLinks(file: N): Steps<Level> | undefined;

  /** The files with several links that the sandbox has changed. */
  protected abstract linked(): Iterable<N>;

  /** Drops the cached levels, after the rules changed. */
  abstract reset(): void;

  /** As `finding`, at once. */
  find(node: N, ofPath: Level): Level {
    return complete(this.finding(node, ofPath));
  }

  /**
   * Returns the strictest level of a file's links. Adding and removing a link requires WRITE, so only new rules change
   * the result, or a link with MERGED (`relevel`).
   */
  *finding(node: N, ofPath: Level): Steps<Level> {
    const counter = new StepCounter(LINKS_PER_STEP);
    let level = ofPath;
    for (const { parent, name } of node.links.length > 1 ? node.links : []) {
      level = strictest(level, parent.agentRuleOf(name).level);
      if (counter.count()) yield;
    }
    const ofAll = this.ofAllLinks(node);
    return ofAll === undefined ? level : strictest(level, yield* ofAll);
  }

  /** Sets the level of a file under new rules. */
  set(node: N, level: Level): void {
    node.agentLevel = level;
  }

  /**
   * Updates the levels of all files with several links, after the owner moved a directory that contains some of them.
   */
  updateAll(): void {
    this.reset();
    for (const node of this.linked()) this.#update(node);
  }

  /** Updates the level of one file, after the owner removed a link that the rules protect from the sandbox. */
  update(node: N): void {
    this.reset();
    this.#update(node);
  }

  /**
   * Updates the level of a file that the agent gave a link, at a path with level `given`, or took one, where the levels WRITE
   * and MERGED meet.
   */
  relevel(node: N, given: Level = WRITE): void {
    const link = node.links[0];
    if (node.isDirectory || link === undefined) return;
    this.reset();
    // What the agent changes has the same access with both levels, and may have tens of thousands of links.
    const isChanged = node.type !== S_IFREG || node.isAgentText;
    const level = node.agentLevel as Level;
    this.set(node, isChanged ? strictest(level, given) : this.find(node, link.parent.agentRuleOf(link.name).level));
  }

  #update(node: N): void {
    const link = node.links[0];
    if (link === undefined) return;
    const level = this.find(node, link.parent.agentRuleOf(link.name).level);
    if (level === node.agentLevel && !isRedactedLevel(level)) return;
    this.set(node, level);
    this.#notifier.invalInode(node.id);
  }
}
