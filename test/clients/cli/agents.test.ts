import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Agent, checkedAgent } from '../../../clients/cli/src/agents/agent.ts';
import { findAgent } from '../../../clients/cli/src/agents/find-agent.ts';
import { homeFiles } from '../../../clients/cli/src/agents/home-files.ts';
import { keysOf } from '../../../clients/cli/src/agents/keys.ts';
import { findProgram } from '../../../clients/cli/src/agents/program.ts';
import { emptyDirectory, put as putIn } from '../../directory.ts';

const home = emptyDirectory();

const put = (path: string, text = '', mode = 0o644) => putIn(home, path, text, mode);

describe('the file of an agent', () => {
  it.each(['aider', 'claude', 'codex', 'gemini', 'opencode'])('of %s is bundled, and valid', (name) => {
    const { command, keys } = findAgent(name, { HOME: home });
    expect([command, keys.length > 0, keys.every(({ hosts }) => hosts.length > 0)]).toEqual([name, true, true]);
  });

  it('of the user comes before a bundled one', () => {
    put('.config/paddock/agents/claude.yaml', 'command: mine\ninstall: make mine\n');
    expect(findAgent('claude', { HOME: home })).toMatchObject({ command: 'mine', keys: [], files: [] });
  });

  it('of the user is refused if others can change it, as it chooses hosts and variables', () => {
    put('.config/paddock/agents/mine.yaml', 'command: mine\ninstall: make mine\n');
    chmodSync(join(home, '.config/paddock/agents/mine.yaml'), 0o666);
    expect(() => findAgent('mine', { HOME: home })).toThrow(/mine\.yaml can be changed by others/);
  });

  it.each([
    [{}, 'mine.command must be the name of a program in PATH, without a path'],
    [{ command: '../x' }, 'mine.command must be the name of a program in PATH, without a path'],
    [{ command: 'x', install: 'i', host: [] }, 'mine.host is unknown; known: command, install, args'],
    [
      { command: 'x', install: 'i', keys: [{ variable: 'A=B' }] },
      'mine.keys[0].variable must be the name of a variable',
    ],
    [{ command: 'x', install: 'i', files: [{ path: '../.ssh' }] }, 'mine.files[0].path must be a path below HOME'],
    [{ command: 'x', install: 'i', files: [{ path: '/etc/x' }] }, 'mine.files[0].path must be a path below HOME'],
    [{ command: 'x', install: 'i', env: { A: 1 } }, 'mine.env must be a map of texts'],
  ])('with a fault is refused with the field: %j', (values, message) => {
    expect(() => checkedAgent(values, 'mine')).toThrow(message);
  });

  it('with a name that is a path is not looked for', () => {
    put('x.yaml', 'command: x\ninstall: x\n');
    expect(() => findAgent('../../../x', { HOME: home })).toThrow('--agent is aider, claude, codex');
  });
});

describe('the keys of an agent', () => {
  const key = { variable: 'A_KEY', shape: 'sk-', header: 'x-api-key', hosts: ['api.a.example'], url: 'A_URL' };
  const agent = {
    keys: [key, { ...key, variable: 'B_KEY', hosts: ['api.b.example'], url: '' }],
    hosts: [],
  } as Partial<Agent>;
  const of = (env: Record<string, string>, ...given: string[]) => keysOf('a', agent as Agent, env, new Set(given));

  it('are those that the caller has, with their hosts', () => {
    expect(of({ B_KEY: 'value' })).toEqual({
      held: [{ variable: 'B_KEY', shape: 'sk-', header: 'x-api-key', value: 'value', hosts: ['api.b.example'] }],
      rules: [{ host: 'api.b.example', ports: [] }],
      env: {},
      notes: [],
    });
  });

  it('go to another address of the service instead, if the caller has it', () => {
    expect(of({ A_KEY: 'value', A_URL: 'https://gate.example:8443/v1' })).toMatchObject({
      held: [{ variable: 'A_KEY', hosts: ['gate.example'] }],
      rules: [{ host: 'gate.example', ports: [8443] }],
      env: { A_URL: 'https://gate.example:8443/v1' },
    });
  });

  it.each([
    ['http://127.0.0.1:4000', { cidr: '127.0.0.1', ports: [4000] }],
    ['http://localhost:4000/v1', { cidr: '127.0.0.1', ports: [4000] }],
    ['https://10.0.0.5', { cidr: '10.0.0.5', ports: [443] }],
    ['http://gate.example', { host: 'gate.example', ports: [80] }],
    ['http://[::1]:4000', { cidr: '::1', ports: [4000] }],
  ])('stay here for %s, where no value is replaced', (A_URL, rule) => {
    for (const more of [{ A_KEY: 'the real one' }, {}]) {
      const { held, rules, env, notes } = of({ A_URL, ...more });
      expect([held, rules, env]).toEqual([[], [rule], { A_URL, A_KEY: `sk-${'0'.repeat(48)}` }]);
      expect(notes).toEqual([expect.stringMatching(/^A_KEY is zeros inside, .*; -e A_KEY shows yours$/)]);
    }
  });

  it('that are given in another way need their hosts only', () => {
    expect(of({ A_KEY: 'value' }, 'A_KEY')).toEqual({
      held: [],
      rules: [{ host: 'api.a.example', ports: [] }],
      env: {},
      notes: [],
    });
  });

  it('are asked for if there are none, and addresses are checked', () => {
    expect(() => of({})).toThrow('a needs a key: set A_KEY or B_KEY');
    expect(() => of({ A_KEY: 'v', A_URL: 'gate' })).toThrow('A_URL must be an http or https address, not "gate"');
    expect(() => of({ A_KEY: 'v', A_URL: 'https://u:p@gate.example' })).toThrow('A_URL must have no password');
  });
});

describe('the files of HOME', () => {
  const write = (files: object[], variables: Record<string, string> = {}) => {
    const skipped: string[] = [];
    const { files: checked } = checkedAgent({ command: 'x', install: 'x', files }, 'x');
    const written = homeFiles(checked, {
      home,
      variables,
      skipped: (path, reason) => skipped.push(`${path}: ${reason}`),
    });
    return { written: Object.fromEntries(written.map(({ path, text }) => [path, text])), skipped };
  };

  it('have the named keys of the caller’s settings, and values over them', () => {
    put('.a/s.json', '{"model": "m", "token": "t", "ui": {"a": 1, "b": 2}}');
    const { written } = write([{ path: '.a/s.json', keep: ['model', 'ui'], set: { ui: { b: 3 } } }]);
    expect(JSON.parse(written['.a/s.json']!)).toEqual({ model: 'm', ui: { a: 1, b: 3 } });
    put('.a.yml', 'model: m\napi-key: [t]\n');
    expect(JSON.parse(write([{ path: '.a.yml', keep: ['model'] }]).written['.a.yml']!)).toEqual({ model: 'm' });
  });

  it('have of TOML the named values before the first table', () => {
    put('.a/c.toml', 'model = "m\\"x" # its model\nn=3\nkey = "t"\n[x]\nmodel = "other"\n');
    const { written } = write([{ path: '.a/c.toml', keep: ['model', 'n'], set: { 'p."{dir}".trust': 'yes' } }], {
      dir: '/w',
    });
    expect(written['.a/c.toml']).toBe('model = "m\\"x"\nn = 3\np."/w".trust = "yes"\n');
  });

  it('have variables of the agent, and nothing for those that are not set', () => {
    const set = { key: '{KEY}', end: ['{KEY.3}', '{NO.3}'], url: '{NO}', '{NO}': 1, n: { '{KEY}': true } };
    const { written } = write(
      [
        { path: '.a.json', set },
        { path: '.b.json', set: { a: '{NO}' } },
      ],
      { KEY: 'sk-abcdef' },
    );
    expect(JSON.parse(written['.a.json']!)).toEqual({ key: 'sk-abcdef', end: ['def'], n: { 'sk-abcdef': true } });
    expect(Object.keys(written)).toEqual(['.a.json']);
  });

  it('are copied as they are where the agent’s file says so, without links that lead elsewhere', () => {
    put('.a/notes/b/n.md', 'text');
    put('secret', 'token');
    symlinkSync(join(home, 'secret'), join(home, '.a/notes/link'));
    expect(write([{ path: '.a/notes', copy: true }]).written).toEqual({ '.a/notes/b/n.md': 'text' });
  });

  it('that cannot be read are left out, with the reason', () => {
    put('.a.json', '{');
    put('.b', 'x'.repeat(65 * 1024));
    expect(
      write([
        { path: '.a.json', keep: ['x'] },
        { path: '.b', copy: true },
      ]),
    ).toEqual({
      written: {},
      skipped: ['.a.json: it cannot be parsed', '.b: it has more than 64 KiB'],
    });
  });
});

describe('the program of an agent', () => {
  const find = (directory: string) => {
    const found = findProgram('tool', { env: { HOME: home, PATH: `${join(home, directory)}:/usr/bin` } });
    return found && [found.path, ...found.mounts].map((each) => each.replace(`${home}/`, '~/'));
  };

  it('of npm is shown with all packages of its folder', () => {
    put('.npm/lib/node_modules/tool/cli.js', '#!/usr/bin/env node\n', 0o755);
    mkdirSync(join(home, '.npm/bin'));
    symlinkSync('../lib/node_modules/tool/cli.js', join(home, '.npm/bin/tool'));
    expect(find('.npm/bin')).toEqual(['~/.npm/lib/node_modules/tool/cli.js', '~/.npm/lib/node_modules']);
  });

  it('of one file is shown alone', () => {
    put('.local/share/tool/versions/1.2', 'ELF', 0o755);
    put('.local/share/tool/token');
    mkdirSync(join(home, '.local/bin'));
    symlinkSync('../share/tool/versions/1.2', join(home, '.local/bin/tool'));
    expect(find('.local/bin')).toEqual(['~/.local/share/tool/versions/1.2', '~/.local/share/tool/versions/1.2']);
  });

  it('of a virtual environment is shown with it, and with its Python', () => {
    put('.pyenv/versions/3.12/bin/python3', '', 0o755);
    const venv = '.local/share/uv/tools/tool';
    put(`${venv}/bin/tool`, '#!/x\n', 0o755);
    put(`${venv}/pyvenv.cfg`);
    put(`${venv}/lib/x`);
    symlinkSync(join(home, '.pyenv/versions/3.12/bin/python3'), join(home, venv, 'bin/python3'));
    expect(find(`${venv}/bin`)).toEqual([`~/${venv}/bin/tool`, `~/${venv}`, '~/.pyenv/versions/3.12/bin']);
  });

  it('that is not there, or no program, is not found', () => {
    put('bin/tool', '#!/bin/sh\n');
    expect(find('bin')).toBeUndefined();
  });
});
