import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Descriptors } from '../../../../lib/descriptors.ts';
import { unmountAgentFiles } from '../../../../lib/runtime/agent-mount.ts';
import type { SystemEntry } from '../../../../lib/runtime/bwrap/arguments.ts';
import { openInstance } from '../../../../lib/runtime/bwrap/instance.ts';
import { BwrapSandbox } from '../../../../lib/runtime/bwrap/launch.ts';
import { CgroupTree } from '../../../../lib/runtime/cgroup/tree.ts';
import { RESOURCES, run } from '../run.ts';

/** The shells that may be an image's /bin/sh; busybox is tested if it is installed, the others always. */
const shells = ['/usr/bin/dash', '/usr/bin/bash', '/usr/bin/busybox'].filter((path) => existsSync(path));
const base = mkdtempSync('/tmp/paddock-shells-');
chmodSync(base, 0o711);
afterAll(async () => {
  await unmountAgentFiles(join(base, 'i'));
  rmSync(base, { recursive: true, force: true });
});

/** Launches a sandbox whose /bin contains links, with the given shell as `sh`, on a host without cgroups. */
async function launch(shell: string, index: number) {
  const bin = join(base, `bin-${index}`);
  mkdirSync(bin);
  for (const name of ['sh']) symlinkSync(shell, join(bin, name));
  const instance = await instanceOf();
  const isBin = (entry: SystemEntry) => entry.path === '/bin';
  const entries = instance.view.entries.filter((entry) => !isBin(entry));
  const view = { ...instance.view, entries: [...entries, { path: '/bin', source: bin }] };
  const workspace = join(base, `w-${index}`);
  mkdirSync(workspace);
  chownSync(workspace, 310_000 + index, 310_000 + index);
  const spec = {
    id: `s${index}`,
    workspace,
    runDir: join(base, `r-${index}`),
    uid: 310_000 + index,
    image: '',
    resources: RESOURCES,
  };
  const settings = {
    bwrapPath: '/usr/bin/bwrap',
    root: true,
    resetSignals: ['/usr/bin/env', '--default-signal=INT,QUIT'],
    inheritance: { closeFds: [], niceness: undefined },
    descriptors: new Descriptors(),
  };
  return BwrapSandbox.launch(spec, { ...instance, view }, new CgroupTree('none'), settings);
}
let opened: ReturnType<typeof openInstance> | undefined;
const instanceOf = () => {
  opened ??= openInstance(join(base, 'i'), true, { readOnlyPaths: [] });
  return opened;
};

describe.each(shells.map((shell, index) => ({ shell, index })))(
  'with $shell as /bin/sh and no cgroups',
  ({ shell, index }) => {
    it('commands run, get stdin, end and are isolated', async () => {
      const box = await launch(shell, index);
      try {
        const nasty = `'"$(id)\n\\ é`;
        const env = { A: nasty, UID: '5', IFS: ',' };
        expect(await run(box, 'printf %s "$A"; printf %s "$A" >&2; exit 7', { env })).toMatchObject({
          stdout: nasty,
          stderr: nasty,
          exitCode: 7,
        });
        expect(await run(box, 'kill -9 $$')).toMatchObject({ stdout: '', stderr: '', exitCode: 137 });
        expect(await run(box, 'cat; pwd', { stdin: 'x'.repeat(200_000), workdir: '/tmp' })).toMatchObject({
          stdout: `${'x'.repeat(200_000)}/tmp\n`,
        });
        expect(await run(box, 'pwd', { workdir: 'nope' })).toMatchObject({ code: 'INVALID_ARGUMENT' });
        expect(await run(box, `: ${'y'.repeat(100_000)}; echo long`)).toMatchObject({ stdout: 'long\n' });
        // busybox ignores SIGQUIT (4) in the last program that it execs.
        expect((await run(box, 'grep ^SigIgn /proc/self/status')).stdout).toMatch(/0{15}[04]$/m);
        const both = await Promise.all([run(box, 'sleep 0.2; echo a'), run(box, 'sleep 0.2; echo b')]);
        expect(both.map((each) => each.stdout)).toEqual(['a\n', 'b\n']);
      } finally {
        await box.stop();
      }
    });

    it('the processes of a command are killed, and others continue', async () => {
      const box = await launch(shell, index + 10);
      try {
        await run(box, 'setsid sleep 4321 >/dev/null 2>&1 &');
        const escapes =
          'trap "" TERM; setsid sleep 1234 & (sh -c "(sleep 1234 &) &" &); nohup sleep 1234 >/dev/null 2>&1 & sleep 1234';
        expect(await run(box, escapes, { timeoutMs: 300 })).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
        const left = await run(
          box,
          "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o 'sleep [0-9][0-9]*' | sort | uniq -c; :",
        );
        expect(left.stdout).toMatch(/^ *1 sleep 4321\n$/);
      } finally {
        await box.stop();
      }
    });
  },
);
