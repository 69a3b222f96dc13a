import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { Descriptors } from '../../../../lib/descriptors.ts';
import { silentLog } from '../../../../lib/log.ts';
import { unmountAgentFiles } from '../../../../lib/runtime/agent-mount.ts';
import type { SystemEntry } from '../../../../lib/runtime/bwrap/arguments.ts';
import { openInstance } from '../../../../lib/runtime/bwrap/instance.ts';
import { BwrapSandbox } from '../../../../lib/runtime/bwrap/launch.ts';
import { ShellProcess } from '../../../../lib/runtime/bwrap/shell-process.ts';
import { CgroupTree } from '../../../../lib/runtime/cgroup/tree.ts';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { TerminalLimit } from '../../../../lib/runtime/terminal-limit/terminal-limit.ts';
import { RESOURCES } from '../run.ts';

/** The shells that may be an image's /bin/sh; busybox is tested if it is installed, the others always. */
export const shells = ['/usr/bin/dash', '/usr/bin/bash', '/usr/bin/busybox'].filter((path) => existsSync(path));

interface Machine {
  /** Host directory of the workspaces, `w-N` in the order of the launches. */
  base: string;
  /** Starts a sandbox whose /bin contains links, with the given shell as `sh`. Stopped after the file's tests. */
  launch(shell?: string): Promise<RunningSandbox>;
}

/** For one test file. Without `cgroups` the host is one that has none. */
export function openShells({ cgroups = false } = {}): Machine {
  const base = mkdtempSync('/tmp/paddock-shells-');
  chmodSync(base, 0o711);
  const tree = new CgroupTree(`shells-${process.pid}`);
  if (cgroups) tree.open();
  const launched: RunningSandbox[] = [];
  let instance: ReturnType<typeof openInstance> | undefined;
  afterAll(async () => {
    await Promise.all(launched.map((sandbox) => sandbox.stop()));
    tree.close();
    await unmountAgentFiles(join(base, 'i'));
    rmSync(base, { recursive: true, force: true });
  });

  async function launch(shell = '/usr/bin/dash'): Promise<RunningSandbox> {
    const index = launched.length;
    const bin = join(base, `bin-${index}`);
    mkdirSync(bin);
    symlinkSync(shell, join(bin, 'sh'));
    instance ??= openInstance(join(base, 'i'), true, { readOnlyPaths: [] });
    const opened = await instance;
    const isBin = (entry: SystemEntry) => entry.path === '/bin';
    const entries = opened.view.entries.filter((entry) => !isBin(entry));
    const view = { ...opened.view, entries: [...entries, { path: '/bin', source: bin }] };
    const uid = 310_000 + (process.pid % 1000) * 20 + index;
    const workspace = join(base, `w-${index}`);
    mkdirSync(workspace);
    chownSync(workspace, uid, uid);
    const spec = {
      id: `s${index}`,
      workspace,
      home: workspace,
      runDir: join(base, `r-${index}`),
      uid,
      image: '',
      resources: RESOURCES,
    };
    const settings = {
      bwrapPath: '/usr/bin/bwrap',
      root: true,
      resetSignals: ['/usr/bin/env', '--default-signal=INT,QUIT'],
      start: (files: readonly string[]) => new ShellProcess(files, { closeFds: [], niceness: undefined }),
      descriptors: new Descriptors(),
      terminals: new TerminalLimit(silentLog),
    };
    const sandbox = await BwrapSandbox.launch(spec, { ...opened, view }, tree, settings);
    launched.push(sandbox);
    return sandbox;
  }
  return { base, launch };
}
