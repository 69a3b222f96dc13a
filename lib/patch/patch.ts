import type { ByteString } from '../byte-string.ts';
import { blobId, literal, noBlob, type ObjectFormat } from './git-binary.ts';
import { gitPath, isRefusedByGit } from './git-path.ts';

/** A file or symlink on one side of a patch. */
export interface PatchSide {
  /** Octal, in git's notation: 100644, 100755 or 120000. */
  mode: string;
  size: number;
  /** Must return the same bytes at each call. Not called if `isLeftOut`. */
  content(): AsyncIterable<Uint8Array>;
  /** The patch names the file without its contents, as `git diff` without --binary; `git apply` refuses that. */
  isLeftOut?: boolean;
}

/** How a patch is made. */
export interface PatchMeans {
  differ: Differ;
  /** The hash of the repository that it is for. */
  objectFormat: ObjectFormat;
}

/** Returns the hunks of a unified diff of two texts; none if they are equal. */
export type Differ = (before: Uint8Array, after: Uint8Array) => Promise<Uint8Array>;

/** Maximum bytes for a diff by lines; larger files are included as a whole. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Like git: a NUL within these first bytes makes a file binary. */
const LOOKED_AT = 8000;

/**
 * Yields the part of a patch for one path, in the format of `git apply`; an absent side means creation or removal. The
 * result is bytes, since the encoding is unknown. A file that replaces a symlink, or the reverse, becomes a removal and
 * a creation. Yields nothing if the sides are equal for git, because the header alone would take the next path's mode for
 * its own; and nothing for a path that git refuses, because the whole patch would be refused.
 */
export async function* filePatch(
  path: ByteString,
  before: PatchSide | undefined,
  after: PatchSide | undefined,
  means: PatchMeans,
): AsyncGenerator<Uint8Array> {
  if (isRefusedByGit(path, isLink(before) || isLink(after))) return;
  if (before && after && isLink(before) !== isLink(after)) {
    yield* filePatch(path, before, undefined, means);
    yield* filePatch(path, undefined, after, means);
    return;
  }
  const [a, b] = [gitPath('a', path), gitPath('b', path)];
  const modeLines = modes(before, after);
  const header = `diff --git ${a} ${b}\n${modeLines}`;
  if (before?.isLeftOut || after?.isLeftOut) {
    const names = `${before ? a : '/dev/null'} and ${after ? b : '/dev/null'}`;
    // Without a line `index` git would skip the file, not refuse the patch.
    yield Buffer.from(`${header}index 0000000..0000000\nBinary files ${names} differ\n`, 'latin1');
    return;
  }
  const texts = await bothTexts(before, after);
  if (texts === undefined) {
    yield* binaryPatch({ header, hasModes: modeLines !== '' }, before, after, means.objectFormat);
    return;
  }
  const body = await means.differ(texts.before, texts.after);
  if (body.length === 0 && modeLines === '') return;
  const names = `--- ${before ? withTab(a) : '/dev/null'}\n+++ ${after ? withTab(b) : '/dev/null'}\n`;
  yield Buffer.from(body.length === 0 ? header : `${header}${names}`, 'latin1');
  if (body.length > 0) yield body;
}

async function* binaryPatch(
  { header, hasModes }: { header: string; hasModes: boolean },
  before: PatchSide | undefined,
  after: PatchSide | undefined,
  format: ObjectFormat,
): AsyncGenerator<Uint8Array> {
  const idOf = (side: PatchSide | undefined) => (side ? blobId(format, side.size, side.content()) : noBlob(format));
  const ids = await Promise.all([before, after].map(idOf));
  if (ids[0] === ids[1]) {
    if (hasModes) yield Buffer.from(header, 'latin1');
    return;
  }
  yield Buffer.from(`${header}index ${ids[0]}..${ids[1]}\nGIT binary patch\n`, 'latin1');
  yield* literal(after?.size ?? 0, after?.content() ?? nothing());
}

function isLink(side: PatchSide | undefined): boolean {
  return side?.mode === '120000';
}

function modes(before: PatchSide | undefined, after: PatchSide | undefined): string {
  if (before === undefined) return `new file mode ${after?.mode}\n`;
  if (after === undefined) return `deleted file mode ${before.mode}\n`;
  return before.mode === after.mode ? '' : `old mode ${before.mode}\nnew mode ${after.mode}\n`;
}

async function bothTexts(
  before: PatchSide | undefined,
  after: PatchSide | undefined,
): Promise<{ before: Buffer; after: Buffer } | undefined> {
  const old = await textOf(before);
  const now = old === undefined ? undefined : await textOf(after);
  return old === undefined || now === undefined ? undefined : { before: old, after: now };
}

/** undefined: binary, or too large. */
async function textOf(side: PatchSide | undefined): Promise<Buffer | undefined> {
  if (side === undefined) return Buffer.alloc(0);
  if (side.size > MAX_TEXT) return undefined;
  const parts: Uint8Array[] = [];
  for await (const bytes of side.content()) parts.push(bytes);
  const text = Buffer.concat(parts);
  return text.subarray(0, LOOKED_AT).includes(0) ? undefined : text;
}

/** A tab terminates a name with a space, which could otherwise be parsed as the start of a date. */
function withTab(name: string): string {
  return name.includes(' ') && !name.startsWith('"') ? `${name}\t` : name;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
