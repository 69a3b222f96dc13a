import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { memberHead, memberPadding, tarEnd } from '../../../lib/archive/tar.ts';
import { fromText } from '../../../lib/byte-string.ts';
import type { ImportMode } from '../../../lib/field-values.ts';
import { Scratch } from './scratch.ts';

export let scratch: Scratch;
/** A directory with files to import. */
export let source: string;
/** An empty codebase. */
export let id: string;

/** A codebase and files to import for each test. */
export function useImports(): void {
  beforeEach(async () => {
    scratch = new Scratch();
    await scratch.open();
    ({ id } = await scratch.codebases.create({ name: 'c', owner_id: '' }));
    source = mkdtempSync(join(tmpdir(), 'paddock-import-'));
    mkdirSync(join(source, 'src/deep'), { recursive: true });
    writeFileSync(join(source, 'src/run.sh'), '#!/bin/sh\n');
    chmodSync(join(source, 'src/run.sh'), 0o755);
    writeFileSync(join(source, 'src/deep/only'), 'x'.repeat(200_000), { mode: 0o440 });
    linkSync(join(source, 'src/run.sh'), join(source, 'src/same.sh'));
    symlinkSync('src/run.sh', join(source, 'link'));
    for (const path of ['src/run.sh', 'src/deep/only', 'src/deep']) utimesSync(join(source, path), 1e9, 1e9);
    chmodSync(join(source, 'src/deep'), 0o700);
  });
  afterEach(() => {
    rmSync(source, { recursive: true });
    scratch.remove();
  });
}

export const packed = (...options: string[]) => execFileSync('tar', ['-C', source, '-cf', '-', ...options, '.']);

export async function* streamed(bytes: Uint8Array, size = 10_000) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export const imported = (bytes: Uint8Array, mode: ImportMode = 'merge', onlyAt?: string) =>
  scratch.codebases.importArchive(id, mode, streamed(bytes), onlyAt);

export const put = async (path: string, content = path) => {
  await scratch.codebases.upload(id, path, streamed(Buffer.from(content)));
};

/** An archive with these members; a text is a file's content. */
export const archiveOf = (members: [path: string, content: string | { to: string; hard?: boolean } | 'directory'][]) =>
  Buffer.concat([
    ...members.flatMap(([path, content]) => {
      const head = { path: fromText(path), mode: 0o644, mtime: { sec: 1, nsec: 0 }, size: 0 };
      if (content === 'directory') return [memberHead({ ...head, type: 'directory', mode: 0o755 })];
      if (typeof content === 'object') {
        return [memberHead({ ...head, type: content.hard ? 'link' : 'symlink', target: fromText(content.to) })];
      }
      const bytes = Buffer.from(content);
      return [memberHead({ ...head, type: 'file', size: bytes.length }), bytes, memberPadding(bytes.length)];
    }),
    tarEnd(),
  ]);

export const at = (path: string) => join(scratch.codebases.filesPath(id), path);
export const names = () => readdirSync(at('.'), { recursive: true }).sort();
/** Everything is removed from the incoming files, in the background. */
export const leftovers = () => readdirSync(join(at('.'), '../tmp'));
