import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { fromLatin1 } from '../../../lib/byte-string.ts';
import type { Caller } from '../../../lib/fuse/filesystem.ts';
import type { SandboxRecord } from '../../../lib/metadata/metadata.ts';
import { WorkspaceFileSystem } from '../../../lib/workspaces/workspace-file-system.ts';
import type { WorkspaceFileSystemOptions } from '../../../lib/workspaces/workspace-file-system-options.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { Notices } from './sandbox.ts';

const ARCHIVE = resolve(import.meta.dirname, '../../fixtures/state-9a21782.tar.gz');

/**
 * The state directory of a server of commit 9a21782 that was killed: metadata version 1, journals version 3. Its sandboxes
 * hold small, slab-held and large files, links, renamed directories, whiteouts, checkpoints and forks. `expected.json` is
 * the view of programs in them at the end, and at each checkpoint.
 */
export class OlderState {
  readonly directory: string;
  readonly expected: {
    codebase: string;
    sandboxes: Record<string, { id: string; tree: string[] }>;
    checkpoints: Record<string, string[]>;
  };
  readonly records: SandboxRecord[];

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), 'older-state-'));
    onTestFinished(() => rmSync(this.directory, { recursive: true, force: true }));
    execFileSync('tar', ['-xzf', ARCHIVE, '-C', this.directory, '--no-same-owner']);
    this.expected = this.#json('expected.json') as OlderState['expected'];
    this.records = (this.#json('metadata.json') as { state: { sandboxes: SandboxRecord[] } }).state.sandboxes;
  }

  spec({ id, codebase_id, uid, permissions, origin }: SandboxRecord): WorkspaceSpec {
    return {
      id,
      codebaseId: codebase_id,
      base: join(this.directory, 'codebases', codebase_id, 'files'),
      delta: join(this.directory, 'mounts/deltas', id),
      layers: join(this.directory, 'mounts/layers'),
      ...(origin !== undefined && { origin }),
      uid,
      rules: permissions,
      maxBytes: 0,
      maxFiles: 0,
    };
  }

  #json(name: string): unknown {
    return JSON.parse(readFileSync(join(this.directory, name), 'utf8'));
  }
}

/** Attaches each workspace in a separate file system, and detaches it after `use`. */
export function attached<T>(
  spec: WorkspaceSpec,
  use: (fs: WorkspaceFileSystem) => T,
  options?: WorkspaceFileSystemOptions,
): T {
  const fs = new WorkspaceFileSystem(new Notices(), options);
  fs.attach(spec);
  try {
    return use(fs);
  } finally {
    fs.detach(spec.id);
  }
}

/** Returns every path of a workspace with its type and contents: the lines of `expected.json`. */
export function linesOf(fs: WorkspaceFileSystem, spec: WorkspaceSpec): string[] {
  const caller: Caller = { uid: spec.uid, gid: spec.uid, pid: 1 };
  const lines: string[] = [];
  const visit = (nodeid: number, path: string) => {
    const names: string[] = [];
    fs.readdir(caller, nodeid, 0, false, (name) => {
      if (name !== '.' && name !== '..') names.push(name);
      return true;
    });
    for (const name of names) {
      const at = `${path}/${name}`;
      const { nodeid: id, attr } = fs.lookup(caller, nodeid, fromLatin1(name))!;
      switch (attr.mode & 0o170000) {
        case 0o040000:
          lines.push(`d ${at}`);
          visit(id, at);
          break;
        case 0o120000:
          lines.push(`l ${at} -> ${fs.readlink(caller, id)}`);
          break;
        case 0o100000: {
          const into = Buffer.alloc(attr.size + 1);
          const content = into.subarray(0, fs.read(caller, id, 0, into));
          const sum = createHash('sha256').update(content).digest('hex');
          lines.push(`f ${at} ${(attr.mode & 0o7777).toString(8)} ${attr.size} ${sum}`);
          break;
        }
        default:
          lines.push(`o ${at}`);
      }
    }
  };
  visit(fs.lookup(caller, 1, fromLatin1(spec.id))!.nodeid, '.');
  return lines.sort();
}
