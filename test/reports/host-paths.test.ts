import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { servedOnce } from '../clients/typescript/served.ts';

/** The home of a developer, which only she may search, with a tool and her own files. */
const home = mkdtempSync(join(tmpdir(), 'paddock-home-'));
const tool = join(home, 'tools/v1');
const served = servedOnce({
  config: { runtime: { mountable_paths: [join(home, 'tools')], hidden_paths: [join(home, 'tools/keys')] } },
});

beforeAll(() => {
  mkdirSync(join(tool, 'bin'), { recursive: true });
  writeFileSync(join(tool, 'bin/greet'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
  writeFileSync(join(home, 'diary'), 'mine');
  symlinkSync(tool, join(home, 'tools/current'));
  chmodSync(home, 0o700);
});
afterAll(() => rmSync(home, { recursive: true }));

const create = (more: object) =>
  served
    .paddock()
    .sandboxes.create({ preset: 'full-access', ...more } as Parameters<
      ReturnType<typeof served.paddock>['sandboxes']['create']
    >[0]);

describe('a host path that a sandbox asks for', () => {
  it('is at the same place, also below a directory that only its owner may search', async () => {
    await using sandbox = await create({ readOnlyPaths: [tool] });
    expect((await sandbox.run(`${tool}/bin/greet`)).stdout).toBe('hello\n');
    expect(sandbox.info.readOnlyPaths).toEqual([tool]);
  });

  it('is all that is seen of the directories above it', async () => {
    await using sandbox = await create({ readOnlyPaths: [tool] });
    expect((await sandbox.run(`find ${home} -not -path '${tool}*'`)).stdout.split('\n').sort()).toEqual([
      '',
      home,
      join(home, 'tools'),
    ]);
  });

  it('cannot be changed', async () => {
    await using sandbox = await create({ readOnlyPaths: [tool] });
    const { exitCode, stderr } = await sandbox.run(`echo x > ${tool}/bin/greet`);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Read-only file system')]);
    expect((await sandbox.run(`${tool}/bin/greet`)).stdout).toBe('hello\n');
  });

  it('can be one file', async () => {
    await using sandbox = await create({ readOnlyPaths: [join(tool, 'bin/greet')] });
    expect((await sandbox.run(`ls ${tool}/bin; ${tool}/bin/greet`)).stdout).toBe('greet\nhello\n');
  });

  it('is there again after a stop, and in forks', async () => {
    await using sandbox = await create({ readOnlyPaths: [tool], workspacePath: '/home/ann/project' });
    await sandbox.stop();
    await sandbox.api.startSandbox({ sandboxId: sandbox.id });
    await using fork = await sandbox.fork();
    for (const each of [sandbox, fork]) {
      expect((await each.run(`cd /home/ann/project && ${tool}/bin/greet`)).stdout).toBe('hello\n');
    }
  });

  it('is refused outside of what the server permits, and where it leads elsewhere', async () => {
    for (const [paths, problem] of [
      [[home], /^read_only_paths\[0\] must be at or below one of the server's runtime\.mountable_paths, /],
      [[join(home, 'tools/current')], /^read_only_paths: ".*" leads to ".*v1": name that$/],
      [[join(home, 'tools/v2')], /^read_only_paths: ".*v2" is missing on the server's machine$/],
      [[tool, join(tool, 'bin')], /^read_only_paths\[1\] ".*" would be in the way of /],
    ] as const) {
      await expect(create({ readOnlyPaths: paths })).rejects.toThrow(problem);
    }
  });
});

it.each(['tools/keys', 'tools/keys/below', 'tools'])(
  'a hidden path is refused, with what is above and below: %s',
  async (name) => {
    await expect(create({ readOnlyPaths: [join(home, name)] })).rejects.toThrow(
      /^read_only_paths\[0\] ".*" would show state/,
    );
  },
);

describe('the path of the workspace on the caller’s machine', () => {
  const path = '/home/ann/project';

  it('shows the same files as /workspace, with the same changes', async () => {
    await using sandbox = await create({ workspacePath: path });
    await sandbox.run(`echo a > ${path}/a && echo b > /workspace/b`, { check: true });
    expect((await sandbox.run(`cat /workspace/a ${path}/b; pwd`)).stdout).toBe('a\nb\n/workspace\n');
    expect((await sandbox.changes()).map((each) => each.path)).toEqual(['a', 'b']);
  });

  it('obeys the rules', async () => {
    await using sandbox = await create({
      preset: 'none',
      rules: { read: ['**'], none: ['secret'] },
      workspacePath: path,
    });
    await sandbox.files.asOwner().write('secret', 'x');
    const { stdout, stderr } = await sandbox.run(`ls ${path}; touch ${path}/new`);
    expect([stdout, stderr]).toEqual(['', expect.stringContaining('Permission denied')]);
  });

  it('can be below /tmp, and be the working directory of commands', async () => {
    await using sandbox = await create({ workspacePath: '/tmp/x/project', workdir: '/tmp/x/project' });
    expect((await sandbox.run('touch here; pwd; ls /workspace')).stdout).toBe('/tmp/x/project\nhere\n');
  });

  it.each(['/usr/x', '/home', '/proc', '/workspace/x', '/tmp', '/run/agent', '/var/tmp/x'])(
    'is refused at %s, which is a place of the sandbox or in its way',
    async (at) => {
      await expect(create({ workspacePath: at })).rejects.toThrow(/^workspace_path ".*" would be in the way of \//);
    },
  );

  it('is refused with a name that no file system has', async () => {
    const refusal = { code: 'INVALID_ARGUMENT', message: 'workspace_path must have names of at most 255 bytes' };
    await expect(create({ workspacePath: `/srv/${'é'.repeat(128)}` })).rejects.toMatchObject(refusal);
  });
});
