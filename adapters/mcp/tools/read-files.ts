import { posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import type { Download } from '../../../handlers/define.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { ROOT, workspacePath } from '../paths.ts';
import { answerOf, type Place, READS, textAnswer, tool } from '../tool.ts';

/** Bytes of a text in one answer. Models read far less. */
export const MAX_TEXT_BYTES = 1024 * 1024;
/** Models take images of at most 5 MB in base64. */
const MAX_MEDIA_BYTES = 3 * 1024 * 1024;
const MAX_FILES = 100;

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

const readText = async (place: Place, path: string): Promise<string> =>
  textOf(await readBytes(place, path, whole(MAX_TEXT_BYTES, 'use head or tail, or exec')));

/** The first lines, as far as they are in the first MAX_TEXT_BYTES. */
async function readHead(place: Place, path: string, lines: number): Promise<string> {
  const bytes = await readBytes(place, path, (size) => ({ start: 0, end: Math.min(size, MAX_TEXT_BYTES) }));
  let end = -1;
  for (let line = 0; line < lines; line++) {
    end = bytes.indexOf(LINE_END, end + 1);
    if (end < 0) return textOf(bytes).replace(/\n$/, '');
  }
  return textOf(bytes.subarray(0, end));
}

/** The last lines, as far as they are in the last MAX_TEXT_BYTES. */
async function readTail(place: Place, path: string, lines: number): Promise<string> {
  const bytes = await readBytes(place, path, (size) => ({ start: Math.max(0, size - MAX_TEXT_BYTES), end: size }));
  let start = bytes.length;
  for (let line = 0; line < lines && start >= 0; line++) {
    start = start === 0 ? -1 : bytes.lastIndexOf(LINE_END, start - 1);
  }
  return textOf(bytes.subarray(start + 1)).replaceAll('\r\n', '\n');
}

const LINE_END = 0x0a;
/** Bytes of a text in JSON. An answer has it twice. */
const MAX_ENCODED = MAX_TEXT_BYTES + MAX_TEXT_BYTES / 4;

/** The threat: a control character has six bytes in JSON; the encoding of a megabyte of them holds the main thread. */
function textOf(bytes: Buffer): string {
  checkEncoded(encodedLength(bytes));
  return bytes.toString();
}

function checkEncoded(length: number): void {
  if (length <= MAX_ENCODED) return;
  const problem = `the text has ${length} bytes in JSON, and an answer at most ${MAX_ENCODED}`;
  throw new ServiceError('OUT_OF_RANGE', `${problem}: use head or tail, or exec`);
}

/** An upper bound. */
function encodedLength(bytes: Uint8Array): number {
  let length = bytes.length;
  for (const byte of bytes) {
    if (byte === 0x22 || byte === 0x5c || (byte >= 0x08 && byte <= 0x0d)) length++;
    else if (byte < 0x20) length += 5;
  }
  return length;
}

const lines = (which: string) => z.int().min(0).optional().describe(`Only the ${which} N lines`);

export const readFiles = [
  tool({
    name: 'read_text_file',
    operation: 'ReadFile',
    description: `Read a file as text, up to ${MAX_TEXT_BYTES / 1024 / 1024} MiB.`,
    input: { path: z.string(), head: lines('first'), tail: lines('last') },
    hints: READS,
    async run({ path, head, tail }, place: Place) {
      if (head && tail) throw new ServiceError('INVALID_ARGUMENT', 'head and tail cannot both be given');
      if (tail) return textAnswer(await readTail(place, path, tail));
      return textAnswer(head ? await readHead(place, path, head) : await readText(place, path));
    },
  }),
  tool({
    name: 'read_media_file',
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
  tool({
    name: 'read_multiple_files',
    operation: 'ReadFile',
    description: `Read up to ${MAX_FILES} files as text. One that cannot be read does not fail the others.`,
    input: { paths: z.array(z.string()).min(1).max(MAX_FILES) },
    hints: READS,
    async run({ paths }, place: Place) {
      const texts: string[] = [];
      let room = MAX_TEXT_BYTES;
      let encoded = 0;
      // One after the other: each is a stream of the caller's limits.
      for (const path of paths) {
        try {
          const bytes = await readBytes(place, path, whole(room, 'read it by itself'));
          const length = encodedLength(bytes);
          checkEncoded(encoded + length);
          encoded += length;
          room -= bytes.length;
          texts.push(`${path}:\n${bytes}\n`);
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          texts.push(`${path}: Error - ${error.message}`);
        }
      }
      const content = texts.join('\n---\n');
      return answerOf(content, { content });
    },
  }),
];
