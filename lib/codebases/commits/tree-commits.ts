import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { ByteString } from '../../byte-string.ts';
import type { Remote } from '../../threads/thread-pool.ts';
import { removingLater } from '../archive/import-archive.ts';
import { changedPaths } from '../changed-paths.ts';
import { type Commit, CommitJournal, type Graft, type StageDone } from '../commit-journal.ts';
import type { KeptTotals } from '../kept-totals.ts';
import { notAll } from '../not-all.ts';
import type { ObserveChange } from '../observe-change.ts';
import type { Admit, MakePlan, Plan, PlanImport, TreeOptions } from '../plan.ts';
import type { Quota } from '../quota.ts';
import type { Contents } from '../totals.ts';
import type { CommitFiles } from './commit-files.ts';

/** What makes the steps: of an import, or of a commit. */
type By = Graft | Remote<CommitFiles>;

type ObservedPlan = Pick<Plan, 'paths' | 'removed' | 'added' | 'rebasesLater' | 'othersPrepared' | 'failed'>;

interface Place {
  /** Of the codebase. */
  id: string;
  directory: string;
  files: string;
  incoming: string;
}

interface Parts {
  observe: ObserveChange;
  kept: KeptTotals;
  quota: Quota;
}

/** The commits and imports of one codebase. All methods must be called in the order of the codebase's changes. */
export class TreeCommits {
  readonly #place: Place;
  readonly #parts: Parts;
  readonly #options: TreeOptions;
  readonly #journal: CommitJournal;
  /** A commit or import that was made, and whose journal is still there. */
  #ending = false;
  /** The rebase of the sandbox of the commit that is ending. Never rejects. */
  #rebasing: Promise<void> | undefined;
  /** The last thread can be used again. Another one would take longer to start than most commits. */
  #released: Promise<void> = Promise.resolve();
  /** Whether a prepared commit may be unfinished; it must be finished before any other change. */
  #unfinished = true;

  constructor(place: Place, parts: Parts, options: TreeOptions) {
    this.#place = place;
    this.#parts = parts;
    this.#options = options;
    this.#journal = new CommitJournal(place.directory, place.files, options.certain, options.syncDisk);
  }

  /** Whether `finish` must precede the next change. */
  get isPending(): boolean {
    return this.#unfinished || this.#ending;
  }

  /** Whether no commit of an earlier server may be unfinished. */
  get isSettled(): boolean {
    return !this.#unfinished;
  }

  /**
   * Makes many changes atomically. `plan` stages contents in the given directory and returns the steps and the touched
   * paths; nothing else changes the files meanwhile. After each stage, before the observer is notified, the sandbox is
   * rebased. If the plan says so (`rebasesLater`), that begins after the observer is called, and ends before `finish` does. Once
   * prepared, the commit will be finished in the codebase and in the sandbox, by the next server if necessary. When this resolves, `isPending` holds.
   */
  async commit(plan: MakePlan): Promise<void> {
    await this.#inThread(async (remote) => {
      await this.#journal.begin();
      await this.#make((admit) => plan(this.#journal.staging, admit, remote), remote);
    });
  }

  /** As `commit`, by a tree that is staged and durable already, and that `graft` brings in. */
  async import(staging: string, plan: PlanImport, graft: Graft): Promise<void> {
    await this.#journal.begin(staging);
    await this.#make(async () => plan(this.#journal.staging, await this.#parts.kept.count()), graft);
  }

  async #inThread<T>(task: (remote: Remote<CommitFiles>) => Promise<T>): Promise<T> {
    await this.#released;
    const { remote, release } = await this.#options.threads.take();
    // The caller does not wait until the space of what was replaced is free.
    return task(remote).finally(() => {
      this.#released = release();
    });
  }

  async #make(plan: (admit: Admit) => Promise<Plan>, by: By): Promise<void> {
    const { id } = this.#place;
    const { quota } = this.#parts;
    let leftOut: ByteString[] = [];
    try {
      const {
        paths,
        removed,
        added,
        growth,
        rebasesLater = false,
        othersPrepared = false,
        failed,
        ...planned
      } = await plan((more) => quota.admit(more));
      const commit = { id: randomUUID(), ...planned };
      if (commit.graft || commit.givenUp.length > 0 || commit.stages.some(({ steps }) => steps.length > 0)) {
        await quota.admit(growth);
        // A crash after `prepare` would skip it, as the paths are not in the journal.
        if (commit.graft && removed.length > 0) await this.#options.watcher.baseRemoving(id, removed);
        await this.#journal.prepare(commit, typeof by === 'function' ? undefined : by);
        leftOut = await this.#apply(
          commit,
          { paths, removed, added, rebasesLater, othersPrepared, failed },
          by,
          growth,
        );
      }
      // It is certain; its end follows before the next change.
      this.#ending = true;
    } catch (error) {
      if (this.#journal.isPrepared) this.#unfinished = true;
      else await this.#abandon();
      throw error;
    }
    if (leftOut.length > 0) throw notAll(leftOut);
  }

  /** `growth`: undefined if the commit was interrupted. */
  async #apply(
    commit: Commit,
    { paths, removed, added, rebasesLater = false, othersPrepared = false, failed }: ObservedPlan,
    by: By,
    growth?: Readonly<Contents>,
  ): Promise<ByteString[]> {
    const { observe, kept } = this.#parts;
    const { totals } = kept;
    const resumed = growth === undefined;
    this.#rebasing = undefined;
    const rebase = (stage: number) => this.#options.rebase(commit, stage, resumed);
    let last: number | undefined;
    const done: StageDone = async (_, stage) => {
      if (rebasesLater) last = stage;
      else await rebase(stage);
    };
    let leftOut: ByteString[] = [];
    const change = async () => {
      try {
        leftOut = await this.#journal.apply(commit, done, by);
      } catch (error) {
        totals.forget();
        throw error;
      }
      if (growth === undefined || leftOut.length > 0) totals.forget();
      else totals.add(growth, commit.graft === true);
      // Begins once the observer is told, and before all programs see the change: one that waits for the rebase may delay that.
      if (last !== undefined) this.#rebasing = turn().then(() => this.#rebaseLater(() => rebase(last!)));
    };
    const { sandboxId } = commit;
    const coming = {
      removed,
      othersPrepared,
      commit: sandboxId === undefined ? undefined : { id: sandboxId, added: added ?? [] },
    };
    await observe(paths, change, { ...coming, removalsObserved: true, failed });
    return leftOut;
  }

  /**
   * Ends the last commit. Finishes one that a crash or a disk failure interrupted after its preparation, and removes the
   * remains of one interrupted before.
   */
  async finish(): Promise<void> {
    await this.#rebasing;
    if (this.#ending && !this.#unfinished) await this.#end();
    this.#ending = false;
    if (!this.#unfinished) return;
    const commit = await this.#journal.unfinished();
    if (commit === undefined) await this.#abandon();
    else await this.#resume(commit);
    this.#unfinished = false;
  }

  async #resume(commit: Commit): Promise<void> {
    const { graft, log } = this.#options;
    const paths = changedPaths(commit);
    const apply = (by: By) => this.#apply(commit, { paths, removed: commit.graft ? [] : paths }, by);
    const leftOut = await (commit.graft ? apply(graft) : this.#inThread(apply));
    await this.#end();
    const ids = { codebase_id: this.#place.id, sandbox_id: commit.sandboxId };
    log.info('finished an interrupted commit', ids);
    if (leftOut.length > 0) log.error('commit applied incompletely', { ...ids, err: notAll(leftOut) });
  }

  /**
   * A failure is no failure of the caller, who may be another one: the rebase is made once more from the journal, as after a
   * crash.
   */
  async #rebaseLater(rebase: () => Promise<void>): Promise<void> {
    try {
      await rebase();
    } catch (err) {
      this.#unfinished = true;
      this.#options.log.warn('a sandbox could not be rebased after its commit', { codebase_id: this.#place.id, err });
    }
  }

  async #end(): Promise<void> {
    await this.#released;
    // What it removed may be a million files.
    await removingLater(this.#place.incoming, (aside) => this.#journal.end(aside), this.#options.log);
    this.#ending = false;
  }

  #abandon(): Promise<void> {
    return removingLater(this.#place.incoming, (aside) => this.#journal.abandon(aside), this.#options.log);
  }
}
