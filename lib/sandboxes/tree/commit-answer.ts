import { type ByteString, toText } from '../../byte-string.ts';
import type { Turn } from '../../codebases/tree/turn.ts';
import { VERSION_LIMITS, type VersionRequest } from '../../store/versions/version.ts';
import type { CommitAnswer, CommitRequest } from './commit-request.ts';
import { versionsBack } from './versions-since.ts';

/** A client drops an answer that is larger than it takes, although the commit was made. */
const NAMED = 1000;
const NAMED_BYTES = 1 << 20;
/** JSON writes a byte of a path as six at most. */
const STORED_BYTES = Math.floor((VERSION_LIMITS.answer - 100) / 6 / 2);

interface Outcome {
  readonly version: number;
  readonly paths: readonly ByteString[];
  readonly conflicts: readonly ByteString[];
}

export function answerOf({ version, paths, conflicts }: Outcome): CommitAnswer {
  return { version, count: paths.length, paths: named(paths, NAMED_BYTES), conflicts: named(conflicts, NAMED_BYTES) };
}

/** What the version of a commit keeps of its request: an answer with fewer paths. */
export function storedRequest({ intent }: CommitRequest, outcome: Outcome): VersionRequest | undefined {
  if (intent === undefined) return undefined;
  const { version, paths, conflicts } = outcome;
  const short = { paths: named(paths, STORED_BYTES), conflicts: named(conflicts, STORED_BYTES) };
  return { intent, answer: Buffer.from(JSON.stringify({ version, count: paths.length, ...short })) };
}

/** The answer that a request got before, or would have got; undefined: it has changed nothing. */
export function formerAnswer({ intent, isRepeated }: CommitRequest, turn: Turn): CommitAnswer | undefined {
  if (intent === undefined || !isRepeated) return undefined;
  for (const { request } of versionsBack(turn))
    if (request?.intent.equals(intent)) return JSON.parse(request.answer.toString());
  return undefined;
}

function named(paths: readonly ByteString[], most: number): string[] {
  const first: string[] = [];
  let bytes = 0;
  for (const path of paths.slice(0, NAMED)) {
    const text = toText(path);
    bytes += Buffer.byteLength(text) + 3;
    if (bytes > most) break;
    first.push(text);
  }
  return first;
}
