import { fromText } from '../../byte-string.ts';
import type { HostFileReader } from '../../host-tree/host-file.ts';
import type { ObjectFormat } from '../../patch/git-binary.ts';

const CONFIG = fromText('.git/config');
const MAX_BYTES = 64 * 1024;
const EXTENSIONS = /^[ \t]*\[[ \t]*extensions[ \t]*\]([^[]*)/gim;
const SHA256 = /^[ \t]*objectformat[ \t]*=[ \t]*"?sha256"?[ \t]*(?:[#;].*)?$/im;

/** The hash of the repository that a codebase has at its top: git applies only patches that name binary files by it. */
export async function objectFormat(root: string, reader: HostFileReader): Promise<ObjectFormat> {
  const handle = await reader.open({ root, path: CONFIG });
  if (handle === undefined) return 'sha1';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    return [...text.matchAll(EXTENSIONS)].some(([, body]) => SHA256.test(body!)) ? 'sha256' : 'sha1';
  } finally {
    await handle.close();
  }
}
