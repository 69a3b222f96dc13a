import type { Source } from '../../../trees/directory/source.ts';
import type { DirectoryEntry } from '../../../trees/format/entry.ts';
import { identical } from '../../../trees/format/entry.ts';
import { HeadMove } from './head-move.ts';

/** Moves that are kept: workspaces that have changes of their own at the same paths may have another base. */
const KEPT = 8;

/** The last moves of codebases: most workspaces of one make the same. */
export class HeadMoves {
  #last: readonly HeadMove[] = [];

  of(source: Source, from: DirectoryEntry, to: DirectoryEntry): HeadMove {
    const known = this.#last.find((move) => identical(move.from, from) && identical(move.to, to));
    if (known !== undefined) return known;
    const move = new HeadMove(source, from, to);
    this.#last = [move, ...this.#last.slice(0, KEPT - 1)];
    return move;
  }
}
