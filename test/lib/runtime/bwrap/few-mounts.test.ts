import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../lib/byte-string.ts';
import { mount, unmount } from '../../../../lib/linux/mount.ts';
import { parseMounts, readMountsSync } from '../../../../lib/linux/mountinfo.ts';
import { bwrapArguments } from '../../../../lib/runtime/bwrap/arguments.ts';
import { neededPaths } from '../../../../lib/runtime/bwrap/needed-paths.ts';
import { Spawner } from '../../../../lib/runtime/bwrap/spawner.ts';
import { systemView } from '../../../../lib/runtime/bwrap/system.ts';
import { until } from './fixture.ts';

const run = promisify(execFile);
const base = mkdtempSync('/tmp/paddock-few-mounts-');
chmodSync(base, 0o711);
const opened: Spawner[] = [];
const mounted: string[] = [];
afterAll(async () => {
  for (const spawner of opened) spawner.close();
  for (const point of mounted) await unmount(point, 'detach').catch(() => {});
  rmSync(base, { recursive: true, force: true });
});

function directory(name: string): string {
  mkdirSync(join(base, name), { recursive: true });
  return join(base, name);
}

async function mountOn(mountPoint: string): Promise<void> {
  mounted.push(mountPoint);
  await mount({ type: 'tmpfs', options: 'size=4k', source: 'test', mountPoint });
}

/** Launches a program that tells its mount points, as one of the paths `needs`. `version`: of what it answers to --version. */
async function launching(needs: readonly string[], version = 'exit 0') {
  const spawner = await Spawner.open();
  opened.push(spawner);
  const [program, out] = [join(base, `program-${opened.length}`), join(base, `mounts-${opened.length}`)];
  const script = `[ "$1" != --version ] || { ${version}; }\ncat /proc/self/mountinfo >'${out}'`;
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  writeFileSync(join(base, 'empty'), '');
  const files = { argumentsFile: join(base, 'empty'), seccompFile: join(base, 'empty') };
  const state = { spawner: 0 };
  const launch = async (): Promise<string[]> => {
    const waiting = spawner.start([], undefined);
    await waiting.started;
    state.spawner = Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${waiting.pid}/status`, 'latin1'))?.[1]);
    waiting.launch({ bwrapPath: program, uid: undefined, needs, ...files });
    expect(await waiting.ended, waiting.said).toBe('bwrap ended with exit code 0');
    return parseMounts(fromLatin1(readFileSync(out, 'latin1'))).map(({ mountPoint }) => mountPoint);
  };
  return {
    launch,
    /** The mounts in the namespace that the spawner has ready. */
    async kept(): Promise<string[] | undefined> {
      const path = namespaceOf(state.spawner);
      if (path === undefined) return undefined;
      const { stdout } = await run('nsenter', [`--mount=${path}`, '/bin/cat', '/proc/self/mountinfo']);
      return parseMounts(fromLatin1(stdout)).map(({ mountPoint }) => mountPoint);
    },
    childrenOf: () => readFileSync(`/proc/${state.spawner}/task/${state.spawner}/children`, 'latin1').trim(),
    async few(): Promise<string[]> {
      let points = await launch();
      await until('it is started among few mounts', async () => {
        if (!points.includes('/sys')) return true;
        points = await launch();
        return false;
      });
      return points;
    },
  };
}

function namespaceOf(pid: number): string | undefined {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory)
    .map((name) => join(directory, name))
    .find((path) => linkOf(path).startsWith('mnt:'));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

const SYSTEM = ['/usr', '/proc', '/dev/null'];

describe('a launch that names the paths it needs', () => {
  it('finds the mounts at, above and below them and no others, and the host keeps all', async () => {
    const [needed, other] = [directory('a/needed'), directory('a/other')];
    await mountOn(needed);
    const below = directory('a/needed/below');
    for (const point of [below, other]) await mountOn(point);
    const points = await (await launching([...SYSTEM, below])).few();
    expect(points).toEqual(expect.arrayContaining(['/', '/proc', needed, below]));
    expect(points).not.toContain(other);
    const host = readMountsSync().map(({ mountPoint }) => mountPoint);
    expect(host).toEqual(expect.arrayContaining(['/sys', needed, below, other]));
  });

  it('finds what has been mounted on them since, and nothing that has been unmounted', async () => {
    const needed = directory('b');
    const later = directory('b/later');
    const own = await launching([...SYSTEM, needed]);
    expect(await own.few()).not.toContain(later);
    await mountOn(later);
    expect(await own.launch()).toContain(later);
    expect(await own.few()).toContain(later);
    await unmount(later, 'detach');
    expect(await own.launch()).not.toContain(later);
  });

  it('keeps no file system of a mount that the host has removed, without another launch', async () => {
    const needed = directory('c');
    await mountOn(needed);
    const own = await launching([...SYSTEM, needed]);
    await own.few();
    expect(await own.kept()).toContain(needed);
    await unmount(needed, 'detach');
    await until(
      'it has another namespace',
      async () => (await own.kept().catch(() => undefined))?.includes(needed) === false,
    );
  });

  it.each([
    ['a path has a link, which may lead to a mount that is left out', () => symlinked(), 'exit 0'],
    ['its program does not run among them', () => directory('d'), 'exit 1'],
  ])('finds the mounts of the host if %s', async (_, needed, version) => {
    const own = await launching([...SYSTEM, needed()], version);
    for (let round = 0; round < 3; round++) {
      expect(await own.launch()).toContain('/sys');
      await until('nothing is being made', () => own.childrenOf() === '');
    }
    expect(await own.kept()).toBeUndefined();
  });
});

function symlinked(): string {
  symlinkSync('/usr', join(base, 'link'));
  return join(base, 'link', 'lib');
}

describe('the paths that a sandbox needs', () => {
  const view = systemView('/run/agents/etc', []);
  const program = '/bin/sh';

  it('contain each that the arguments of its bwrap show', () => {
    const needs = neededPaths({ dir: '/run/agents', view }, program, '/fs', ['/cg/paddock']) ?? [];
    const paths = { workspace: '/fs/place/workspace', home: '/fs/place.home/workspace', agentDir: '/run/agents/a' };
    const args = bwrapArguments(view, { ...paths, shown: [{ source: '/cg/paddock/a', path: '/sys/fs/cgroup' }] });
    const shown = args.filter((_, at) => /^--(ro-)?bind$/.test(args[at - 1] ?? ''));
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.filter((path) => !needs.some((need) => path === need || path.startsWith(`${need}/`)))).toEqual([]);
  });

  it('are not known with paths of the operator, or without the program', () => {
    const own = { ...view, readOnlyPaths: ['/opt/node'] };
    expect(neededPaths({ dir: '/run/agents', view: own }, program, '/fs')).toBeUndefined();
    expect(neededPaths({ dir: '/run/agents', view }, '/nonexistent/bwrap', '/fs')).toBeUndefined();
  });
});
