import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTools, outermost } from '../../../clients/cli/src/tools/find.ts';
import { homesOf } from '../../../clients/cli/src/tools/homes.ts';
import { emptyDirectory, put as putIn } from '../../directory.ts';

const home = emptyDirectory();

function put(...programs: string[]): void {
  for (const program of programs) putIn(home, program, '#!/bin/sh\n', 0o755);
}

function find(directories: string[], env: Record<string, string> = {}, options: Parameters<typeof findTools>[1] = {}) {
  const path = directories.map((each) => (each.startsWith('/') ? each : join(home, each))).join(':');
  const found = findTools({ PATH: path, HOME: home, ...env }, options);
  const own = (each: string) => each.replace(`${home}/`, '~/');
  return {
    mounts: found.mounts.map(own),
    path: found.path
      .split(':')
      .map(own)
      .filter((each) => each.startsWith('~')),
    invisible: found.invisible.map(({ path: at, reason }) => `${own(at)}: ${reason}`),
    env: found.env,
  };
}

describe('the tools in PATH', () => {
  it('of rustup are its proxies and toolchains, and not the registry token beside them', () => {
    put('.cargo/bin/cargo', '.cargo/credentials.toml', '.rustup/toolchains/stable/bin/cargo');
    expect(find(['.cargo/bin'])).toMatchObject({
      mounts: ['~/.cargo/bin', '~/.rustup'],
      env: { RUSTUP_HOME: join(home, '.rustup') },
    });
  });

  it('of nvm are the version that is in use', () => {
    put(
      '.nvm/versions/node/v24.1.0/bin/node',
      '.nvm/versions/node/v24.1.0/lib/x',
      '.nvm/versions/node/v20.0.0/bin/node',
    );
    expect(find(['.nvm/versions/node/v24.1.0/bin']).mounts).toEqual(['~/.nvm/versions/node/v24.1.0']);
  });

  it('of pyenv are its root, which the shims need', () => {
    put('.pyenv/shims/python3', '.pyenv/versions/3.12/bin/python3', '.pyenv/bin/pyenv', '.pyenv/.git/config');
    expect(find(['.pyenv/shims', '.pyenv/bin'])).toMatchObject({
      mounts: ['~/.pyenv/bin', '~/.pyenv/shims', '~/.pyenv/versions'],
      path: ['~/.pyenv/shims', '~/.pyenv/bin'],
    });
  });

  it('of ~/.local/bin are those of one file, and nothing beside them', () => {
    put('.local/bin/uv', '.local/bin/my-notes', '.local/lib/x');
    expect(find(['.local/bin']).mounts).toEqual(['~/.local/bin/uv']);
  });

  it('of a directory with a dot are its programs only: it may have keys', () => {
    put('.docker/bin/x', '.docker/lib/y', '.docker/config.json');
    expect(find(['.docker/bin']).mounts).toEqual(['~/.docker/bin']);
  });

  it('stay invisible in a directory of the user’s own files, with the reason', () => {
    put('scripts/mine', 'bin/mine');
    expect(find(['scripts', 'bin'])).toMatchObject({
      mounts: [],
      path: [],
      invisible: ['~/scripts: it has files of yours', '~/bin: it has programs of yours'],
    });
  });

  it('of the system need nothing but their place in PATH, in the caller’s order', () => {
    put('.cargo/bin/cargo');
    const { path } = findTools({ PATH: `/usr/games:${home}/.cargo/bin:/usr/bin:relative`, HOME: home });
    expect(path).toMatch(new RegExp(`^/usr/games:${home}/.cargo/bin:/usr/bin:/usr/local/sbin:`));
  });

  it('of the workspace itself are there anyhow', () => {
    put('project/.venv/bin/python');
    expect(
      find(['project/.venv/bin'], {}, { workspace: { real: join(home, 'project'), shown: join(home, 'project') } }),
    ).toMatchObject({
      mounts: [],
      path: ['~/project/.venv/bin'],
    });
  });

  it('are found behind links, and missing directories are left out', () => {
    put('.nvm/versions/node/v24/bin/node', '.nvm/versions/node/v24/lib/x');
    symlinkSync(join(home, '.nvm/versions/node/v24'), join(home, '.nvm/current'));
    expect(find(['.nvm/current/bin', 'gone/bin'])).toMatchObject({
      mounts: ['~/.nvm/versions/node/v24'],
      path: ['~/.nvm/versions/node/v24/bin'],
      invisible: [],
    });
  });

  it('of a virtual environment are all of it, unless something else is beside them', () => {
    for (const name of ['venvs/tool', 'src/shop']) put(`${name}/bin/python`, `${name}/lib/x`, `${name}/pyvenv.cfg`);
    put('src/shop/manage.py');
    expect(find(['venvs/tool/bin', 'src/shop/bin']).mounts).toEqual(['~/venvs/tool', '~/src/shop/bin']);
  });
});

describe('what tools never bring', () => {
  it('is a project whose programs are in PATH, with what lies beside them', () => {
    put('src/shop/bin/rails', 'src/shop/lib/x', 'src/shop/.env');
    expect(find(['src/shop/bin']).mounts).toEqual(['~/src/shop/bin']);
  });

  it.each(['.git/config', '.env.local', 'package.json', 'Gemfile', 'pyproject.toml', 'Cargo.toml', 'go.mod'])(
    'is a directory with %s, also where installations are',
    (name) => {
      put('.nvm/versions/node/v1/bin/node', '.nvm/versions/node/v1/lib/x', `.nvm/versions/node/v1/${name}`);
      put('conda/bin/python', 'conda/conda-meta/history', `conda/${name}`, `work/scripts/${name}`);
      expect(find(['.nvm/versions/node/v1/bin', 'conda/bin', 'work/scripts'])).toMatchObject({
        mounts: ['~/.nvm/versions/node/v1/bin', '~/conda/bin'],
        invisible: ['~/work/scripts: it has files of a project'],
      });
    },
  );

  it('is the home of another user, for root with that user’s PATH', () => {
    put(
      'ann/.local/bin/uv',
      'ann/.local/lib/x',
      'ann/.local/share/keyring',
      'ann/bin/mine',
      'ann/lib/x',
      'ann/.ssh/id',
    );
    put('ann/.cargo/bin/cargo', 'ann/.rustup/toolchains/stable/x', 'ann/conda-meta/history');
    const path = ['ann/.local/bin', 'ann/bin', 'ann/.cargo/bin', 'ann'];
    expect(find(path, { HOME: '/root' }, { homes: ['/root', join(home, 'ann')] })).toMatchObject({
      mounts: ['~/ann/.local/bin/uv', '~/ann/.cargo/bin', '~/ann/.rustup'],
      invisible: ['~/ann/bin: it has programs of yours', '~/ann: it has more than tools'],
    });
    expect(homesOf({})).toContain('/root');
  });

  it('is the workspace by another name: its programs are those of the copy', () => {
    put('data/shop/.venv/bin/python', 'data/shop/.venv/lib/x');
    symlinkSync(join(home, 'data/shop'), join(home, 'shop'));
    const workspace = { real: join(home, 'data/shop'), shown: join(home, 'shop') };
    expect(find(['data/shop/.venv/bin', 'shop/.venv/bin'], {}, { workspace })).toMatchObject({
      mounts: [],
      path: ['~/shop/.venv/bin'],
    });
  });
});

it('a path that is found and named is shown once', () => {
  expect(outermost(['/opt/a', '/opt/a', '/opt/a/bin', '/opt/b'])).toEqual(['/opt/a', '/opt/b']);
});
