import { IdIndex } from '../id-index.ts';
import { notFound } from '../not-found.ts';
import type { GroupCommit } from './group-commit.ts';
import type { CodebaseRecord, CodebaseTable, SandboxRecord, SandboxTable } from './metadata.ts';
import { refuseUsed } from './refuse-used.ts';
import type { Change, State } from './state.ts';
import { tableOf } from './table.ts';
import { Users } from './users.ts';

/** Codebases and sandboxes, which depend on each other. */
export function usedCodebases(
  state: State,
  commit: GroupCommit<Change>,
): { codebases: CodebaseTable; sandboxes: SandboxTable } {
  const users = new Users(state.sandboxes.values());
  const byOwner = new IdIndex<CodebaseRecord>();
  for (const record of state.codebases.values()) byOwner.add(record.owner_id, record);
  const sandboxes = tableOf('sandboxes', state.sandboxes, commit, (before, after) => users.moved(before, after));
  const codebases = tableOf('codebases', state.codebases, commit, (before, after) => {
    if (before !== undefined) byOwner.delete(before.owner_id, before);
    if (after !== undefined) byOwner.add(after.owner_id, after);
  });
  const { remove } = codebases;
  return {
    // Each operation makes its checks and its change before the first await.
    sandboxes: Object.assign(sandboxes, {
      admit: async (...[asked, { most, now, refusal }, make]: Parameters<SandboxTable['admit']>) => {
        const { id, codebase_id, owner_id } = asked;
        const before = id === undefined ? undefined : sandboxes.get(id);
        if (before === undefined && codebases.get(codebase_id) === undefined) throw notFound('codebase', codebase_id);
        if (most > 0) {
          const count = users.countOf(owner_id, now) - (before !== undefined && isCounted(before, now) ? 1 : 0);
          if (count >= most) throw refusal(count);
        }
        const stored = sandboxes.put(make());
        stored.catch(() => undefined);
        return { stored };
      },
    }),
    codebases: Object.assign(codebases, {
      remove: async (id: string) => {
        refuseUsed(id, users.of(id));
        await remove(id);
      },
      advance: async (from: CodebaseRecord, next: CodebaseRecord) => {
        if (codebases.get(from.id) !== from) return false;
        await codebases.put(next);
        return true;
      },
      ofOwner: (ownerId: string) => byOwner.of(ownerId),
      newestOf: (ownerId: string, before?: string) =>
        ownerId === '' ? codebases.newestFirst(before) : byOwner.newestFirst(ownerId, before),
    }),
  };
}

function isCounted({ expires_at }: SandboxRecord, now: number): boolean {
  return expires_at === 0 || expires_at * 1000 > now;
}
