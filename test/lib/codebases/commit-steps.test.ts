import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ByteString, fromText } from '../../../lib/byte-string.ts';
import { changeMode } from '../../../lib/codebases/change-mode.ts';
import { applySteps, type Step } from '../../../lib/codebases/commit-steps.ts';
import { Directory } from '../../../lib/host-tree/directory.ts';

let root: string;
const at = (name: string) => join(root, 'files', name);
const apply = (...steps: Step[]) => applySteps(join(root, 'files'), join(root, 'staging'), steps);
const modeOf = (name: string) => statSync(at(name)).mode & 0o777;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'commit-steps-'));
  mkdirSync(at(''));
  mkdirSync(join(root, 'staging'));
  writeFileSync(at('one'), 'text', { mode: 0o644 });
  linkSync(at('one'), at('two'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('new permission bits of a file with several hard links', () => {
  it('are those of the named path only', async () => {
    const before = statSync(at('two'));
    expect(await apply(['chmod', fromText('one'), 0o755])).toEqual([]);
    expect([modeOf('one'), modeOf('two')]).toEqual([0o755, 0o644]);
    expect(statSync(at('two')).ino).toBe(before.ino);
    expect(readFileSync(at('one'), 'utf8')).toBe('text');
    expect(Math.abs(statSync(at('one')).mtimeMs - before.mtimeMs)).toBeLessThan(1);
  });

  it('are set at each path that is named, also again after a crash', async () => {
    const steps: Step[] = [
      ['chmod', fromText('one'), 0o755],
      ['chmod', fromText('two'), 0o600],
    ];
    await apply(...steps);
    await apply(...steps);
    expect([modeOf('one'), modeOf('two')]).toEqual([0o755, 0o600]);
  });

  /** Sets new bits at `one`; `changed` is called with the directories that take part. */
  async function changeOne(changed: (files: Directory, staged: Directory) => void): Promise<void> {
    const [files, staged] = [await Directory.open(at('')), await Directory.open(join(root, 'staging'))];
    changed(files, staged);
    await changeMode(files, fromText('one'), 0o755, staged).finally(() => Promise.all([files.close(), staged.close()]));
  }

  it('are set on a full disk, too, where the file cannot get a copy', async () => {
    await changeOne((_, staged) => {
      staged.openFile = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    });
    expect([modeOf('one'), modeOf('two')]).toEqual([0o755, 0o755]);
    expect(readdirSync(join(root, 'staging'))).toEqual([]);
  });

  it('come with a copy that is on the disk before it takes the place of the file', async () => {
    const calls: string[] = [];
    await changeOne((files, staged) => {
      const openFile = staged.openFile.bind(staged);
      staged.openFile = async (name: ByteString) => {
        const handle = await openFile(name);
        const sync = handle.sync.bind(handle);
        handle.sync = async () => {
          await sync();
          calls.push('synced');
        };
        return handle;
      };
      const take = files.take.bind(files);
      files.take = async (...moved: Parameters<typeof take>) => {
        calls.push('moved');
        await take(...moved);
      };
    });
    expect(calls).toEqual(['synced', 'moved']);
  });
});
