import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { type Level, type RuleSet, strictest, WRITE } from '../../permissions/index.ts';
import { type OwnDirectory, OwnFile } from '../tree/items.ts';
import type { LiveTree } from '../tree/live-tree.ts';
import { FileLevels, type LevelsOwner } from './file-levels.ts';
import { PathMemo } from './path-memo.ts';
import type { TreeNode } from './tree-node.ts';

/** Hard links examined in one step. */
const ITEMS_PER_STEP = 64;

/** Levels of files of a live tree: the strictest of all names, also of a file that the sandbox has not changed. */
export class TreeFileLevels extends FileLevels<TreeNode> {
  readonly #rules: () => RuleSet;
  readonly #live: LiveTree;
  readonly #linked: () => Iterable<TreeNode>;
  /** Of files with several names, by their inode numbers, under the present rules. */
  #known = new Map<number, Level>();

  /** `linked`: the nodes of files with several names. */
  constructor(owner: LevelsOwner, live: LiveTree, linked: () => Iterable<TreeNode>) {
    super(owner);
    this.#rules = () => owner.rules;
    this.#live = live;
    this.#linked = linked;
  }

  protected ofAllLinks(node: TreeNode): Steps<Level> | undefined {
    return node.isDirectory || node.nameCount < 2 ? undefined : this.#finding(node);
  }

  *#finding({ item, entry: { ino } }: TreeNode): Steps<Level, undefined> {
    const known = this.#known.get(ino);
    if (known !== undefined) return known;
    const counter = new StepCounter(ITEMS_PER_STEP);
    const states = new PathMemo(this.#rules().root, (above, name) => above.child(name));
    let level: Level = WRITE;
    for (const path of item instanceof OwnFile ? pathsOf(item) : this.#live.linkPaths.of(this.#live.root, ino)) {
      level = strictest(level, states.at(path).level);
      if (counter.count()) yield;
    }
    this.#known.set(ino, level);
    return level;
  }

  protected linked(): Iterable<TreeNode> {
    return this.#linked();
  }

  reset(): void {
    this.#known = new Map();
  }
}

function* pathsOf({ names }: OwnFile): Generator<ByteString> {
  for (const { dir, name } of names) yield joinPath(pathOf(dir), name);
}

function pathOf(directory: OwnDirectory): ByteString {
  const names: ByteString[] = [];
  for (let dir = directory; dir.parent !== null; dir = dir.parent) names.push(dir.name);
  return names.reverse().reduce(joinPath, ROOT_PATH);
}
