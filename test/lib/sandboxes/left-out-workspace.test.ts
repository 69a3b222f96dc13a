import { expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { silentLog } from '../../../lib/log.ts';
import { createWorkspaceMount } from '../../../lib/sandboxes/host/workspace-mount.ts';
import type { Workspaces } from '../../../lib/workspaces/mount-workspaces.ts';
import type { FileSystemExit, WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';

const spec = (id: string) => ({ id }) as WorkspaceSpec;

/** A mount that the test has die. */
class Mounted {
  readonly calls: string[] = [];
  #die!: (death: FileSystemExit) => void;
  readonly exited = new Promise<FileSystemExit>((resolve) => {
    this.#die = resolve;
  });
  readonly threadsExited = Promise.resolve();

  async die(workspace: string): Promise<void> {
    this.#die({ reason: 'out of memory', workspace });
    await this.exited;
  }

  attach(): Promise<string> {
    return Promise.resolve('/');
  }

  rebase({ id }: WorkspaceSpec): Promise<void> {
    this.calls.push(`rebase ${id}`);
    return Promise.resolve();
  }

  preserveRemoved({ id }: WorkspaceSpec): Promise<boolean> {
    this.calls.push(`preserveRemoved ${id}`);
    return Promise.resolve(false);
  }

  call(operation: 'rebase' | 'preserveRemoved', args: [WorkspaceSpec]): Promise<unknown> {
    return this[operation](...args);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

it('a workspace that made the file system fail is not read by commits of other sandboxes', async () => {
  let now = 0;
  const mounts: Mounted[] = [];
  const mount = createWorkspaceMount({
    mount: () => {
      mounts.push(new Mounted());
      return Promise.resolve(mounts.at(-1) as unknown as Workspaces);
    },
    log: silentLog,
    now: () => now,
  });
  const stage = { commit: 'c', stage: 0, paths: [], revertPaths: [], resumed: true };
  for (let deaths = 0; deaths < 2; deaths++) {
    await mount.attach(spec('sb_1'));
    await mounts.at(-1)!.die('sb_1');
  }
  await expect(mount.preserveRemoved(spec('sb_1'), [fromText('f')])).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
  });
  await expect(mount.rebase(spec('sb_1'), stage)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  await mount.preserveRemoved(spec('sb_2'), [fromText('f')]);
  now = 11 * 60_000;
  await mount.rebase(spec('sb_1'), stage);
  expect(mounts.flatMap(({ calls }) => calls)).toEqual(['preserveRemoved sb_2', 'rebase sb_1']);
  await mount.close();
});
