import { type Member, tar } from '../../archive/tar.ts';
import { withBreaks } from '../../breaks.ts';
import { type ByteString, ROOT_PATH, toBuffer } from '../../byte-string.ts';
import type { Actor, ChangeFormat } from '../../field-values.ts';
import { type HostFile, HostFileReader } from '../../host-tree/host-file.ts';
import { type Differ, filePatch, type PatchSide } from '../../patch/patch.ts';
import { compiling, isRedactedLevel, REDACTED } from '../../permissions/index.ts';
import type { ByteStream } from '../../readable-file.ts';
import type { ChangeChoice } from '../../services.ts';
import { threadedDiffer } from '../../text-tools/differ.ts';
import type { RedactedTexts, WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { changed, hostFile, isMostlyHoles } from './host-file.ts';
import { typeOf } from './list-changes.ts';
import { objectFormat } from './object-format.ts';
import { PresentContents } from './present-contents.ts';
import { selectionOf } from './selection.ts';
import { visibleChanges } from './visible-changes.ts';
import { withWorkspace } from './with-workspace.ts';

/** Changes requested at once; the file system serves programs in between. */
const PAGE_SIZE = 1000;
/** Directories kept open in each of the trees that are read: files are read one at a time, in order of their paths. */
const OPEN_DIRECTORIES = 4;
/** Descriptors of an export: two trees, and files that are open. */
const EXPORT_DESCRIPTORS = 2 * OPEN_DIRECTORIES + 4;

/** `textsOf`: of a file with placeholders, what the agent is shown. */
type ShownChange = WorkspaceChange & { textsOf?: (path: ByteString) => Promise<RedactedTexts> };
type ReadChange = WorkspaceChange & { texts?: RedactedTexts };

/** Resolves the codebase's file at a path. */
type BaseContents = (path: ByteString) => { file: HostFile; reader: HostFileReader };

const FORMATS: Readonly<
  Record<
    ChangeFormat,
    {
      contentType: string;
      make: (
        changes: readonly ShownChange[],
        contents: PresentContents,
        base: BaseContents,
        differ: Differ,
      ) => AsyncIterable<Uint8Array>;
    }
  >
> = {
  patch: { contentType: 'text/x-diff', make: patch },
  tar: { contentType: 'application/x-tar', make: (changes, contents) => tar(members(changes, contents)) },
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
  const [changes, root, owner] = await withWorkspace(id, context, async (mount, sandbox) => {
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
    const end = await context.platform.descriptors.transfers.begin(id, EXPORT_DESCRIPTORS);
    const reader = new HostFileReader(OPEN_DIRECTORIES);
    try {
      const small = (inodes: readonly number[]) => withWorkspace(id, context, (mount) => mount.contents(id, inodes));
      const text = (path: ByteString) =>
        withWorkspace(id, context, async (mount) => (await mount.redactedTexts(id, path, 'commit')).now);
      const contents = await PresentContents.make(changes, small, text, reader);
      const differ = threadedDiffer(context.platform.diffs.of(owner), signal);
      yield* made.make(changes, contents, (path) => ({ file: { root, path }, reader }), differ);
    } finally {
      await reader.close();
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

async function* patch(
  changes: readonly ShownChange[],
  contents: PresentContents,
  base: BaseContents,
  differ: Differ,
): AsyncGenerator<Uint8Array> {
  const { file, reader } = base(ROOT_PATH);
  const means = { differ, objectFormat: await objectFormat(file.root, reader) };
  for (const each of changes) {
    const change = await read(each);
    if (change === undefined) continue;
    const before = await baseSide(change, base);
    const after = await presentSide(change, contents, base(change.path).reader);
    if (before !== undefined || after !== undefined) yield* filePatch(change.path, before, after, means);
  }
}

/** git does not track directories. */
async function presentSide(
  change: ReadChange,
  contents: PresentContents,
  reader: HostFileReader,
): Promise<PatchSide | undefined> {
  const { now, texts } = change;
  if (now !== undefined && texts?.now !== undefined) return bytesSide(texts.now, gitMode(now.mode));
  if (now?.target !== undefined) return bytesSide(toBuffer(now.target));
  if (now === undefined || typeOf(now) !== 'TYPE_FILE') return undefined;
  const { mode, size, hostFile: file } = now;
  const isLeftOut = file !== undefined && (await isMostlyHoles(file, size, reader));
  return { mode: gitMode(mode), size, content: () => contents.of(change), isLeftOut };
}

async function baseSide({ base, path, texts }: ReadChange, contents: BaseContents): Promise<PatchSide | undefined> {
  if (base === undefined) return undefined;
  if (texts?.base !== undefined) return bytesSide(texts.base, gitMode(base.mode));
  const { file, reader } = contents(path);
  if (typeOf(base) === 'TYPE_SYMLINK') {
    const target = await reader.readlink(file);
    if (target === undefined) throw changed();
    return bytesSide(target);
  }
  if (typeOf(base) !== 'TYPE_FILE') return undefined;
  const { mode, size } = base;
  const isLeftOut = await isMostlyHoles(file, size, reader);
  return { mode: gitMode(mode), size, content: () => hostFile(file, size, reader), isLeftOut };
}

function bytesSide(bytes: Uint8Array, mode: PatchSide['mode'] = '120000'): PatchSide {
  return {
    mode,
    size: bytes.length,
    async *content() {
      yield bytes;
    },
  };
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function gitMode(mode: number): string {
  return mode & 0o100 ? '100755' : '100644';
}

const MEMBER_TYPES = { TYPE_FILE: 'file', TYPE_DIRECTORY: 'directory', TYPE_SYMLINK: 'symlink' } as const;

async function* members(changes: readonly ShownChange[], contents: PresentContents): AsyncGenerator<Member> {
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
      content: () => (texts?.now === undefined ? contents.of(change) : bytesOf(texts.now)),
    };
  }
}
