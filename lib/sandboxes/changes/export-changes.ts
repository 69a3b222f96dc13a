import { type Member, tar } from '../../archive/tar.ts';
import { withBreaks } from '../../breaks.ts';
import { type ByteString, ROOT_PATH } from '../../byte-string.ts';
import type { Actor, ChangeFormat } from '../../field-values.ts';
import { type Differ, filePatch } from '../../patch/patch.ts';
import { compiling, isRedactedLevel, REDACTED } from '../../permissions/index.ts';
import type { ByteStream } from '../../readable-file.ts';
import type { ChangeChoice } from '../../services.ts';
import { threadedDiffer } from '../../text-tools/differ.ts';
import type { RedactedTexts, WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { type Attached, ChangeSides, type ReadChange, SIDES_DESCRIPTORS } from './change-sides.ts';
import { selectionOf } from './selection.ts';
import { typeOf } from './shown-change.ts';
import { visibleChanges } from './visible-changes.ts';
import { withWorkspace } from './with-workspace.ts';

/** Changes requested at once; the file system serves programs in between. */
const PAGE_SIZE = 1000;

/** `textsOf`: of a file with placeholders, what the agent is shown. */
type ShownChange = WorkspaceChange & { textsOf?: (path: ByteString) => Promise<RedactedTexts> };

const FORMATS: Readonly<
  Record<
    ChangeFormat,
    {
      contentType: string;
      make: (changes: readonly ShownChange[], sides: ChangeSides, differ: Differ) => AsyncIterable<Uint8Array>;
    }
  >
> = {
  patch: { contentType: 'text/x-diff', make: patch },
  tar: { contentType: 'application/x-tar', make: (changes, sides) => tar(members(changes, sides)) },
};

/**
 * Exports the changes at the time of the call. Contents are read while streaming: a file that is written to meanwhile
 * is exported in one of its later states, or ends the stream with ABORTED if its size has changed. `signal`: ends a diff.
 */
export async function exportChanges(
  id: string,
  format: ChangeFormat,
  choice: ChangeChoice & { as: Actor | '' },
  context: SandboxContext,
  signal: AbortSignal = new AbortController().signal,
): Promise<ByteStream> {
  const made = FORMATS[format];
  const asked = { selection: await selectionOf(choice), withLeft: false };
  const [changes, base, owner] = await withWorkspace(id, context, async (mount, sandbox) => {
    const all: WorkspaceChange[] = [];
    for (let more = true; more; ) {
      const page = await mount.changes(id, all.at(-1)?.path ?? ROOT_PATH, PAGE_SIZE, asked);
      for (const change of page.changes) all.push(change);
      more = page.more;
    }
    const { codebase_id, owner_id, permissions } = sandbox.record;
    const shown =
      choice.as === 'agent'
        ? withTexts(visibleChanges(all, REDACTED, await withBreaks(compiling(permissions))), (path) =>
            withWorkspace(id, context, (mount) => mount.redactedTexts(id, path, 'agent')),
          )
        : all.filter(({ hidden }) => !hidden);
    return [shown, context.platform.basePath(codebase_id), owner_id] as const;
  });
  const bytes = async function* () {
    const end = await context.platform.descriptors.transfers.begin(id, SIDES_DESCRIPTORS);
    let sides: ChangeSides | undefined;
    try {
      const attached: Attached = (task) => withWorkspace(id, context, task);
      sides = await ChangeSides.open(changes, { id, base, attached });
      yield* made.make(changes, sides, threadedDiffer(context.platform.diffs.of(owner), signal));
    } finally {
      await sides?.close();
      end();
    }
  };
  return { contentType: made.contentType, [Symbol.asyncIterator]: bytes };
}

/** With what the agent is shown of files with placeholders. */
function withTexts(
  changes: readonly WorkspaceChange[],
  textsOf: (path: ByteString) => Promise<RedactedTexts>,
): ShownChange[] {
  const isFile = (side: WorkspaceChange['base']) => typeOf(side) === 'TYPE_FILE';
  return changes.map((change) => {
    if (!isRedactedLevel(change.level) || !(isFile(change.now) || isFile(change.base))) return change;
    return { ...change, textsOf };
  });
}

/** Reads the texts of a change; undefined: one of its files has none that may be shown. */
async function read(change: ShownChange): Promise<ReadChange | undefined> {
  if (change.textsOf === undefined) return change;
  const texts = await change.textsOf(change.path);
  const isKnown = (side: 'now' | 'base') => typeOf(change[side]) !== 'TYPE_FILE' || texts[side] !== undefined;
  return isKnown('now') && isKnown('base') ? { ...change, texts } : undefined;
}

async function* patch(changes: readonly ShownChange[], sides: ChangeSides, differ: Differ): AsyncGenerator<Uint8Array> {
  const means = { differ, objectFormat: await sides.objectFormat() };
  for (const each of changes) {
    const change = await read(each);
    if (change === undefined) continue;
    const before = await sides.base(change);
    const after = await sides.present(change);
    if (before !== undefined || after !== undefined) yield* filePatch(change.path, before, after, means);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const MEMBER_TYPES = { TYPE_FILE: 'file', TYPE_DIRECTORY: 'directory', TYPE_SYMLINK: 'symlink' } as const;

async function* members(changes: readonly ShownChange[], sides: ChangeSides): AsyncGenerator<Member> {
  for (const each of changes) {
    const type = typeOf(each.now);
    const change = each.now === undefined || type === 'TYPE_OTHER' ? undefined : await read(each);
    if (change?.now === undefined || type === 'TYPE_OTHER') continue;
    const { path, now, texts } = change;
    yield {
      path,
      type: MEMBER_TYPES[type],
      mode: now.mode & 0o777,
      mtime: now.mtime.sec,
      size: texts?.now?.length ?? now.size,
      ...(now.target !== undefined && { target: now.target }),
      content: () => (texts?.now === undefined ? sides.contents.of(change) : once(texts.now)),
    };
  }
}
