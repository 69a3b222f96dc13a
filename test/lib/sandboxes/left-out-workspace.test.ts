import { expect, it } from 'vitest';
import { silentLog } from '../../../lib/log.ts';
import { createWorkspaceMount } from '../../../lib/sandboxes/host/workspace-mount.ts';
import type { Workspaces } from '../../../lib/workspaces/mount-workspaces.ts';
import type { Death, WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';

const spec = (id: string) => ({ id }) as WorkspaceSpec;

/** A mount that the test has die. */
class Mounted {
  readonly calls: string[] = [];
  #die!: (death: Death) => void;
  readonly died = new Promise<Death>((resolve) => {
    this.#die = resolve;
  });
  readonly ended = Promise.resolve();

  async die(workspace: string): Promise<void> {
    this.#die({ reason: 'out of memory', workspace });
    await this.died;
  }

  attach(): Promise<string> {
    return Promise.resolve('/');
  }

  settle({ id }: WorkspaceSpec): Promise<void> {
    this.calls.push(`settle ${id}`);
    return Promise.resolve();
  }

  keepRemoved({ id }: WorkspaceSpec): Promise<boolean> {
    this.calls.push(`keepRemoved ${id}`);
    return Promise.resolve(false);
  }

  call(operation: 'settle' | 'keepRemoved', args: [WorkspaceSpec]): Promise<unknown> {
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
  const settlement = { commit: 'c', stage: 0, settled: [], givenUp: [], resumed: true };
  for (let deaths = 0; deaths < 2; deaths++) {
    await mount.attach(spec('sb_1'));
    await mounts.at(-1)!.die('sb_1');
  }
  await expect(mount.keepRemoved(spec('sb_1'), ['f'])).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  await expect(mount.settle(spec('sb_1'), settlement)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  await mount.keepRemoved(spec('sb_2'), ['f']);
  now = 11 * 60_000;
  await mount.settle(spec('sb_1'), settlement);
  expect(mounts.flatMap(({ calls }) => calls)).toEqual(['keepRemoved sb_2', 'settle sb_1']);
  await mount.close();
});
