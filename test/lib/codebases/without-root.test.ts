import { chmodSync, chownSync, existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MemberHead, memberHead, tarEnd } from '../../../lib/archive/tar.ts';
import { fromText } from '../../../lib/byte-string.ts';
import type { ImportMode } from '../../../lib/field-values.ts';
import { chunks, Scratch } from './scratch.ts';

/** Of nobody: the process has a file of its own, so no other test is without root. */
const NOBODY = 65534;
const euid = process.geteuid!();
let scratch: Scratch;

beforeEach(async () => {
  scratch = new Scratch();
  if (euid === 0) {
    chmodSync(scratch.path, 0o755);
    chownSync(scratch.path, NOBODY, NOBODY);
    process.seteuid!(NOBODY);
  }
  await scratch.open();
});
afterEach(() => {
  process.seteuid!(euid);
  rmSync(scratch.path, { recursive: true });
});

/** An archive of a closed directory in another one, with a file that nobody may read. */
function closed(): Buffer {
  const member = (path: string, type: MemberHead['type'], mode: number) =>
    memberHead({ path: fromText(path), type, mode, mtime: { sec: 1, nsec: 0 }, size: 0 });
  return Buffer.concat([
    member('top', 'directory', 0o555),
    member('top/closed', 'directory', 0),
    member('top/closed/inner', 'directory', 0o555),
    member('top/closed/inner/file', 'file', 0),
    tarEnd(),
  ]);
}

it('a server without root imports, replaces, fills and reads directories whose modes would keep it out', async () => {
  const id = await scratch.codebase();
  const imported = (mode: ImportMode) => scratch.codebases.importArchive(id, mode, chunks(closed()));
  await imported('merge');
  await imported('merge');
  await imported('replace');
  expect(await scratch.text(id, 'top/closed/inner/file')).toBe('');
  await scratch.upload(id, 'top/closed/new');
  const at = join(scratch.files(id), 'top');
  expect(statSync(at).mode & 0o777).toBe(0o755);
  await scratch.codebases.removeFile(id, 'top/closed/inner/file');
  expect(existsSync(join(at, 'closed/inner/file'))).toBe(false);
});
