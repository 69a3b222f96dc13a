import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { Children } from '../../../lib/fuse/connection/children.ts';
import { S_IFREG } from '../../../lib/linux/mode.ts';
import type { ToldChange } from '../../../lib/workspaces/watching/told-changes.ts';
import { TOUCHER, touchLines } from '../../../lib/workspaces/watching/touch-lines.ts';

/** A directory in place of the mount, with the workspace of `sb`, and one that is not in it. */
function directories(): { mount: string; workspace: string; outside: string } {
  const mount = mkdtempSync(join(tmpdir(), 'toucher-'));
  onTestFinished(() => rmSync(mount, { recursive: true }));
  const [workspace, outside] = [join(mount, 'sb', 'workspace'), join(mount, 'outside')];
  for (const each of [workspace, outside]) mkdirSync(each, { recursive: true });
  writeFileSync(join(outside, 'f'), 'of the host');
  return { mount, workspace, outside };
}

const removal = (dir: string): ToldChange => ({
  ...{ kind: 'gone', dir: fromText(dir), name: fromText('f') },
  ...{ mode: S_IFREG, ino: 1, files: [] },
});

async function touch(mount: string, changes: ToldChange[]): Promise<void> {
  const children = new Children(() => spawn('perl', ['-e', TOUCHER], { cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] }));
  await children.ask(touchLines(mount, 'sb', changes, new Set([1])));
  children.close();
}

describe('the child that repeats changes for watchers', () => {
  it('does in the workspace what it is told', async () => {
    const { mount, workspace } = directories();
    mkdirSync(join(workspace, 'd'));
    writeFileSync(join(workspace, 'd', 'f'), '');
    await touch(mount, [removal('d')]);
    expect(existsSync(join(workspace, 'd', 'f'))).toBe(false);
  });

  it.each(['../../outside', 'ABSOLUTE'])('does not leave the workspace by a link to %s', async (target) => {
    const { mount, workspace, outside } = directories();
    symlinkSync(target === 'ABSOLUTE' ? outside : target, join(workspace, 'd'));
    await touch(mount, [removal('d'), removal('../../outside')]);
    expect(existsSync(join(outside, 'f'))).toBe(true);
  });

  it('does nothing for a workspace or a directory that has gone', async () => {
    const { mount, workspace, outside } = directories();
    writeFileSync(join(workspace, 'f'), '');
    await touch(mount, [removal('gone')]);
    rmSync(workspace, { recursive: true });
    await touch(mount, [removal(outside), removal('')]);
    expect(existsSync(join(outside, 'f'))).toBe(true);
  });
});
