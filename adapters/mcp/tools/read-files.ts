import { posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import type { Download } from '../../../handlers/define.ts';
import { invalidArgument, ServiceError } from '../../../lib/errors.ts';
import { endOfCharacters } from '../../../lib/text-tools/whole-characters.ts';
import { ROOT, workspacePath } from '../paths.ts';
import { answerOf, type Place, READS, tool } from '../tool.ts';
import { SHOWN_BYTES } from './output-window.ts';

/** Bytes of a file that is edited. */
export const MAX_TEXT_BYTES = 1024 * 1024;
/** Models take images of at most 5 MB in base64. */
const MAX_MEDIA_BYTES = 3 * 1024 * 1024;
/** The threat: a control character has six bytes in JSON; the encoding of a megabyte of them holds the main thread. */
const MAX_READ_BYTES = 200_000;
const LONGEST_CHARACTER = 4;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
};

/** Reads a part of a file as the agent. `part` gets its size, and returns the range to read. */
export async function readBytes(
  place: Place,
  path: string,
  part: (size: number) => { start: number; end: number },
): Promise<Buffer> {
  const { caller, sandbox_id } = place;
  const request = { sandbox_id, as: 'agent', path: await workspacePath(place, path) };
  return caller.use('ReadFile', request, async ({ file, close }: Download) => {
    try {
      const { start, end } = part(file.size);
      const chunks: Buffer[] = [];
      if (start < end) for await (const chunk of file.read({ start, end })) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks);
    } finally {
      await close();
    }
  });
}

/** The range of a whole file of at most `limit` bytes. */
export const whole = (limit: number, instead: string) => (size: number) => {
  if (size > limit) {
    throw new ServiceError('OUT_OF_RANGE', `the file has ${size} bytes, and an answer at most ${limit}: ${instead}`);
  }
  return { start: 0, end: size };
};

/** A part that ends with a whole character. */
async function readPart(place: Place, path: string, offset: number, limit: number) {
  let size = 0;
  const bytes = await readBytes(place, path, (all) => {
    size = all;
    if (offset > size) throw invalidArgument('offset', `must be at most ${size}, the size of the file`);
    return { start: offset, end: Math.min(size, offset + limit) };
  });
  const length = offset + bytes.length < size ? endOfCharacters(bytes) : bytes.length;
  return { content: bytes.toString('utf8', 0, length), next: offset + length, size };
}

export const readFiles = [
  tool({
    name: 'file_read',
    operation: 'ReadFile',
    description: `Read a file as text, ${SHOWN_BYTES / 1000} kB by default; go on with offset: next_offset.`,
    input: {
      path: z.string(),
      offset: z.int().min(0).default(0).describe('Bytes'),
      limit: z.int().min(LONGEST_CHARACTER).max(MAX_READ_BYTES).default(SHOWN_BYTES).describe('Bytes'),
    },
    output: { content: z.string(), size: z.int(), next_offset: z.int().optional() },
    hints: READS,
    async run({ path, offset, limit }, place: Place) {
      const { content, next, size } = await readPart(place, path, offset, limit);
      const cut = next < size;
      const text = cut ? `${content}\n[next_offset ${next} of ${size} bytes]` : content;
      return answerOf(text, { content, size, ...(cut && { next_offset: next }) });
    },
  }),
  tool({
    name: 'file_read_media',
    operation: 'ReadFile',
    description: 'Read an image or sound; other files as an embedded resource. Base64, up to 3 MiB.',
    input: { path: z.string() },
    output: 'none',
    hints: READS,
    async run({ path }, place: Place) {
      const data = (await readBytes(place, path, whole(MAX_MEDIA_BYTES, 'use exec'))).toString('base64');
      const shown = await workspacePath(place, path);
      const mimeType = MEDIA_TYPES[posix.extname(shown).toLowerCase()] ?? 'application/octet-stream';
      const kind = mimeType.slice(0, 5);
      const block =
        kind === 'image' || kind === 'audio'
          ? { type: kind as 'image' | 'audio', data, mimeType }
          : {
              type: 'resource' as const,
              resource: { uri: pathToFileURL(`${ROOT}/${shown}`).href, mimeType, blob: data },
            };
      return { content: [block] };
    },
  }),
];
