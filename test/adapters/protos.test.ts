import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { generate, outdated, readContract } from '../../proto/generate.mjs';
import { brokenPromises, renderReleased } from '../../proto/released.mjs';

const released = readFileSync(new URL('../../proto/service/v1/released.txt', import.meta.url), 'utf8');

/** The lines before those of the operations. */
const definitionsOf = (text: string) => text.slice(0, text.indexOf('# What an operation needs'));

describe('generated files', () => {
  it('match the .proto files', () => {
    expect(outdated()).toEqual([]);
    const names = Object.keys(generate()).map((path) => basename(path));
    expect(names).toEqual(expect.arrayContaining(['schema.ts', 'messages.py']));
  });
});

describe('a field whose name is a keyword of Python', () => {
  const dir = mkdtempSync(join(tmpdir(), 'paddock-proto-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const contractWith = (...fields: string[]) => {
    const path = join(dir, 'm.proto');
    writeFileSync(path, `syntax = "proto3";\npackage p;\n// M.\nmessage M {\n${fields.join('\n')}\n}\n`);
    return () => readContract([path]);
  };
  it('needs its twin, with its number', () => {
    const [as, view] = ['// As.\nstring as = 2;', '// View.\nstring view = 30;'];
    expect(contractWith(as)).toThrow('M.as is a keyword of Python: it needs a field view = 30 of its type');
    expect(contractWith(as, '// View.\nstring view = 3;')).toThrow('it needs a field view = 30');
    expect(contractWith(as, '// View.\nint32 view = 30;')).toThrow('it needs a field view = 30');
    expect(contractWith('// In.\nstring in = 2;')).toThrow('M.in is a keyword of Python: choose another name');
    expect(contractWith('// None.\nint32 yield = 1;')).toThrow('choose another name');
    expect(contractWith(view)).not.toThrow();
  });
});

describe('released definitions', () => {
  it.each([
    ['a number', 'Sandbox.id = string 1', 'Sandbox.id = string 15'],
    ['a type', 'Sandbox.created_at = int64 6', 'Sandbox.created_at = int32 6'],
    ['a name', 'ExecRequest.workdir = string 5', 'ExecRequest.cwd = string 5'],
    ['an enum value', 'Permission.PERMISSION_VIEW = 1', 'Permission.PERMISSION_VIEW = 2'],
    [
      'a stream',
      'SandboxService/ExecStream = ExecRequest -> stream ExecStreamChunk',
      'SandboxService/ExecStream = ExecRequest -> ExecStreamChunk',
    ],
  ])('do not allow a change of %s', (_what, line, changed) => {
    expect(released).toContain(`${line}\n`);
    expect(brokenPromises(released, released.replace(line, changed))).toEqual([line]);
  });

  it('allow additions', () => {
    expect(brokenPromises(released, `${released}Sandbox.new_field = string 99\n`)).toEqual([]);
  });
});

describe('for compilers that do not know `optional` in proto3', () => {
  it('the command in docs/tour.md makes protos with the same names, numbers and types', () => {
    const readme = readFileSync(new URL('../../docs/tour.md', import.meta.url), 'utf8');
    const [, copy = '', edit = ''] = /<!-- old protoc -->\n```sh\n(.*)\n(.*)\n/.exec(readme) ?? [];
    const dir = mkdtempSync(join(tmpdir(), 'paddock-proto-'));
    cpSync(new URL('../../proto', import.meta.url), join(dir, 'proto'), { recursive: true });
    execFileSync('sh', ['-euc', `${copy}\n${edit}`], { cwd: dir });
    const edited = join(dir, 'proto-old/service/v1');
    const paths = readdirSync(edited).filter((name) => name.endsWith('.proto'));
    const texts = paths.map((name) => readFileSync(join(edited, name), 'utf8'));
    expect(texts.join('').match(/^ *optional /m)).toBeNull();
    expect(released).toContain(' = optional int64 ');
    // The generator wants a comment right before each field.
    for (const [index, text] of texts.entries())
      writeFileSync(join(edited, paths[index]!), text.replaceAll(/(oneof \w+ \{)/g, '$1\n// x\n'));
    const definitions = readContract(paths.sort().map((name) => join(edited, name)));
    expect(renderReleased(definitions as never)).toBe(definitionsOf(released.replaceAll(' = optional ', ' = ')));
    rmSync(dir, { recursive: true });
  });
});
