import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach } from 'vitest';

/** A directory for all tests of the file, gone after them. */
export function directoryOfFile(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'paddock-test-')));
  afterAll(() => rmSync(path, { recursive: true }));
  return path;
}

/** The same, but it is empty at the beginning of each test. */
export function emptyDirectory(): string {
  const path = directoryOfFile();
  afterEach(() => {
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
  });
  return path;
}

/** Writes a file with the directories above it, and returns its path. */
export function put(directory: string, path: string, content: string | Uint8Array = '', mode = 0o644): string {
  const full = join(directory, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content, { mode });
  return full;
}

export function putAll(directory: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) put(directory, path, content);
}
