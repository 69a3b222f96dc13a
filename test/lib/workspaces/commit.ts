import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ByteString, fromText, ROOT_PATH, toText } from '../../../lib/byte-string.ts';
import { isDirectory } from '../../../lib/linux/mode.ts';
import { isAdded, shownElsewhere } from '../../../lib/sandboxes/changes/commit-plan.ts';
import type { OwnDirectory, WorkspaceChange } from '../../../lib/workspaces/workspaces.ts';
import { ownDirectories } from './own-directories.ts';
import type { Sandbox } from './sandbox.ts';
import { settledPaths } from './settled-paths.ts';

let commits = 0;

/** What programs do during a commit. */
interface Meanwhile {
  /** Before the codebase has the changes. */
  before?: () => void;
  /** When it has some of them, nothing in place of a changed one, and when it has all. */
  during?: () => void;
  /** When the commit was answered, before the rebase. */
  after?: () => void;
}

/** Commits all changes that the rules permit, as the main thread does, without its journal. Returns their paths. */
export function commitAll(s: Sandbox, resumed = false, meanwhile: Meanwhile = {}): ByteString[] {
  return commitOne(s, new Look(s), resumed, meanwhile);
}

/** As `commitAll`, of the changes at these paths only. */
export function commitOnly(s: Sandbox, paths: readonly string[], resumed = false, meanwhile: Meanwhile = {}): void {
  commitOne(s, new Look(s, paths), resumed, meanwhile);
}

function commitOne(s: Sandbox, look: Look, resumed: boolean, meanwhile: Meanwhile): ByteString[] {
  look.begin(meanwhile);
  look.put(look.all, meanwhile);
  s.fs.baseChanged('cb_1', look.paths);
  meanwhile.after?.();
  look.rebase(look.all, 1, resumed);
  return look.paths;
}

/**
 * As `commitAll`, with the sandbox paused as the main thread does, for renamed directories as well; with these, nothing is done
 * `meanwhile`. `crashes`: the server ends before the rebase.
 */
export function commitPaused(s: Sandbox, meanwhile: Meanwhile = {}, crashes = false): void {
  const look = new Look(s);
  const isMoved = look.own.some(({ origin }) => origin !== undefined);
  if (isMoved) s.fs.pause(s.spec.id);
  const done = isMoved ? {} : meanwhile;
  look.begin(done);
  look.put(look.all, done);
  if (!isMoved) s.fs.baseChanged('cb_1', look.paths);
  done.after?.();
  if (crashes) s.restart();
  look.rebase(look.all, 0, crashes);
  if (isMoved) s.fs.baseChanged('cb_1', look.paths);
}

/** The changes at the begin of a commit. */
class Look {
  readonly all: WorkspaceChange[];
  readonly own: OwnDirectory[];
  readonly paths: ByteString[];
  readonly #s: Sandbox;
  readonly #commit = `commit${commits++}`;
  readonly #contents = new Map<ByteString, Buffer>();

  /** `chosen`: the only paths that are committed. */
  constructor(s: Sandbox, chosen?: readonly string[]) {
    this.#s = s;
    const { changes } = s.fs.changes(s.spec.id, ROOT_PATH, Number.MAX_SAFE_INTEGER);
    const isChosen = (path: ByteString) => chosen?.includes(toText(path)) ?? true;
    this.all = changes.filter(
      ({ path, writable, hidden, now }) => writable && !hidden && now?.target === undefined && isChosen(path),
    );
    this.own = ownDirectories(s);
    this.paths = this.all.map(({ path }) => path);
    for (const change of this.all) this.#contents.set(change.path, contentsOf(s, change));
  }

  begin({ before }: Meanwhile): void {
    const { fs, spec } = this.#s;
    before?.();
    const shown = shownElsewhere(this.own);
    const added = this.all.filter((change) => isAdded(change, shown)).map(({ path }) => path);
    fs.baseChanging('cb_1', this.paths, { id: spec.id, added });
  }

  put(changes: readonly WorkspaceChange[], { during }: Meanwhile): void {
    const s = this.#s;
    for (const { path, now } of changes.toReversed()) {
      if (now === undefined) rmSync(join(s.spec.base, toText(path)), { recursive: true, force: true });
    }
    for (const { path, now, base } of changes) {
      if (now === undefined) continue;
      during?.();
      const at = join(s.spec.base, toText(path));
      if (base === undefined || isDirectory(base.mode) !== isDirectory(now.mode))
        rmSync(at, { recursive: true, force: true });
      if (base !== undefined) during?.();
      if (isDirectory(now.mode)) {
        mkdirSync(at, { recursive: true });
        chmodSync(at, now.mode & 0o777);
      } else {
        rmSync(at, { force: true });
        s.putBase(toText(path), this.#contents.get(path)!.toString());
        chmodSync(at, now.mode & 0o777);
      }
    }
    during?.();
  }

  rebase(changes: readonly WorkspaceChange[], stage: number, resumed: boolean): void {
    const paths = settledPaths(changes, this.own);
    const commit = this.#commit;
    this.#s.fs.rebase(this.#s.spec, { commit, stage, paths, revertPaths: [], resumed, isLast: true });
  }
}

function contentsOf(s: Sandbox, { path, now }: WorkspaceChange): Buffer {
  if (now === undefined || isDirectory(now.mode)) return Buffer.alloc(0);
  if (now.isText) return Buffer.from(s.fs.redactedTexts(s.spec.id, path, 'commit').now!);
  if (now.small) return Buffer.from(s.fs.contents(s.spec.id, [now.version![0]])[0]!);
  const { root, path: file } = now.hostFile!;
  return readFileSync(join(String(root), toText(file ?? fromText(''))));
}
