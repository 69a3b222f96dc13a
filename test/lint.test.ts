import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const imports = 'lint/style/noRestrictedImports';

interface Snippet {
  file: string;
  code: string;
  /** Expected diagnostic; undefined: none. */
  refused?: string;
}

const importing = (file: string, source: string, refused?: string): Snippet => ({
  file,
  code: `import '${source}';\n`,
  ...(refused && { refused }),
});

const naming = (file: string, name: string, source: string, refused?: string): Snippet => ({
  file,
  code: `export { ${name} } from '${source}';\n`,
  ...(refused && { refused }),
});

/** Each direction of the architecture once as a violation, and once as an allowed import. */
const SNIPPETS: Snippet[] = [
  importing('lib/a/adapters.ts', '../../adapters/http.ts', imports),
  importing('lib/a/handlers.ts', '../../handlers/exec.ts', imports),
  importing('lib/grpc.ts', '@grpc/grpc-js', imports),
  importing('lib/middy.ts', '@middy/core', imports),
  importing('lib/busboy.ts', 'busboy', imports),
  importing('lib/http.ts', 'node:http', imports),
  importing('lib/sandboxes/meets.ts', '../fuse/mount.ts'),
  importing('lib/sandboxes/both.ts', '../runtime/runtime.ts'),
  importing('lib/runtime/fuse.ts', '../fuse/mount.ts', imports),
  importing('lib/runtime/bwrap/deep.ts', '../../fuse/mount.ts', imports),
  importing('lib/runtime/sandboxes.ts', '../sandboxes/index.ts', imports),
  importing('lib/runtime/process.ts', 'node:child_process'),
  importing('lib/fuse/runtime.ts', '../runtime/runtime.ts', imports),
  importing('lib/workspaces/runtime.ts', '../runtime/runtime.ts', imports),
  importing('lib/runtime/workspaces.ts', '../workspaces/workspaces.ts', imports),
  importing('handlers/workspaces.ts', '../lib/workspaces/workspaces.ts', imports),
  importing('lib/fuse/grpc.ts', '@grpc/grpc-js', imports),
  importing('lib/workspaces/rules.ts', '../permissions/rules.ts'),
  importing('lib/workspaces/door.ts', './files/owner-access.ts', imports),
  importing('lib/workspaces/operations/door.ts', '../files/owner-access.ts', imports),
  importing('lib/workspaces/files/door.ts', './owner-access.ts'),
  importing('lib/workspaces/protocol.ts', '../fuse/filesystem.ts'),
  importing('lib/fuse/rules.ts', '../permissions/rules.ts', imports),
  importing('lib/fuse/session/overlay.ts', '../../workspaces/workspaces.ts', imports),
  importing('lib/permissions/io.ts', 'node:fs', imports),
  importing('lib/trees/format/io.ts', 'node:fs', imports),
  importing('lib/trees/format/errors.ts', '../../errors.ts', imports),
  importing('lib/trees/format/room.ts', '../../codebases/codebases.ts', imports),
  importing('lib/trees/above.ts', '../errors.ts', imports),
  importing('lib/trees/directory/names.ts', '../../byte-string.ts'),
  importing('lib/trees/directory/format.ts', '../format/keys.ts'),
  importing('clients/typescript/src/server.ts', '../../../lib/errors.ts', imports),
  importing('clients/typescript/src/local/server.ts', '../../../../handlers/index.ts', imports),
  importing('clients/typescript/src/http/fs.ts', 'node:fs', imports),
  importing('clients/typescript/src/local/fs.ts', 'node:fs'),
  importing('clients/other/node.ts', 'node:fs'),
  importing('clients/cli/src/server.ts', '../../../lib/errors.ts', imports),
  importing('clients/cli/src/client.ts', 'paddock-sandbox/local'),
  importing('clients/cli/src/private.ts', '../../typescript/src/index.ts', imports),
  importing('clients/typescript/src/cli.ts', '../../cli/src/command-line/command.ts', imports),
  importing('adapters/http/client.ts', '../../clients/typescript/src/index.ts', imports),
  importing('handlers/client.ts', '../clients/typescript/src/index.ts', imports),
  importing('lib/client.ts', '../clients/typescript/src/index.ts', imports),
  naming('lib/codebases/by-path.ts', 'lstat', 'node:fs/promises', imports),
  naming('lib/codebases/unprefixed.ts', 'openSync', 'fs', imports),
  {
    file: 'lib/codebases/all.ts',
    code: "import * as fs from 'node:fs';\nexport const x = fs.lstatSync;\n",
    refused: imports,
  },
  {
    file: 'lib/workspaces/all.ts',
    code: "import fs from 'node:fs';\nexport const x = fs.lstatSync;\n",
    refused: imports,
  },
  naming('lib/codebases/handle.ts', 'FileHandle', 'node:fs/promises'),
  naming('lib/codebases/storage.ts', 'readdir', 'node:fs/promises'),
  naming('lib/sandboxes/changes/by-path.ts', 'copyFile', 'node:fs/promises', imports),
  naming('lib/sandboxes/files/by-path.ts', 'readlinkSync', 'node:fs', imports),
  naming('lib/workspaces/by-path.ts', 'lstatSync', 'node:fs', imports),
  naming('lib/workspaces/files/by-path.ts', 'openSync', 'node:fs', imports),
  naming('lib/workspaces/by-descriptor.ts', 'fstatSync', 'node:fs'),
  naming('lib/workspaces/delta/numbered.ts', 'openSync', 'node:fs'),
  naming('lib/host-tree/owner.ts', 'openSync', 'node:fs'),
  importing('lib/workspaces/runtime.ts', '../../runtime/runtime.ts', imports),
  importing('lib/codebases/http.ts', 'node:http', imports),
  importing('lib/permissions/runtime.ts', '../runtime/runtime.ts', imports),
  importing('lib/permissions/messages.ts', '../messages.ts'),
  importing('handlers/http.ts', 'node:http', imports),
  importing('handlers/grpc.ts', '@grpc/grpc-js', imports),
  importing('handlers/busboy.ts', 'busboy', imports),
  importing('handlers/middy.ts', '@middy/core', imports),
  importing('handlers/another.ts', './exec.ts', imports),
  importing('handlers/adapters.ts', '../adapters/http.ts', imports),
  importing('handlers/fuse.ts', '../lib/fuse/connection/mount.ts', imports),
  importing('handlers/defined.ts', './define.ts'),
  importing('handlers/errors.ts', '../lib/errors.ts'),
  importing('handlers/define.ts', '@middy/core'),
  importing('handlers/index.ts', './exec.ts'),
  importing('adapters/serve.ts', '../app/serve.ts', imports),
  importing('adapters/http.ts', '../lib/fuse/connection/mount.ts', imports),
  importing('adapters/grpc.ts', '../lib/runtime/bwrap/launch.ts', imports),
  importing('app/cron.ts', '../lib/services.ts'),
  importing('app/main.ts', '../lib/fuse/connection/mount.ts'),
  { file: 'lib/environment.ts', code: 'export const home = process.env.HOME;\n', refused: 'lint/style/noProcessEnv' },
  {
    file: 'adapters/environment.ts',
    code: 'export const home = process.env.HOME;\n',
    refused: 'lint/style/noProcessEnv',
  },
  { file: 'lib/config/environment.ts', code: 'export const home = process.env.HOME;\n' },
  { file: 'lib/cycle/one.ts', code: "export * from './two.ts';\n", refused: 'lint/suspicious/noImportCycles' },
  { file: 'lib/cycle/two.ts', code: "export * from './one.ts';\n", refused: 'lint/suspicious/noImportCycles' },
  {
    file: 'lib/knot/one.ts',
    code: "import type { Two } from './two.ts';\nexport type One = Two;\n",
    refused: 'lint/suspicious/noImportCycles',
  },
  {
    file: 'lib/knot/two.ts',
    code: "import type { One } from './one.ts';\nexport type Two = One | string;\n",
    refused: 'lint/suspicious/noImportCycles',
  },
  { file: 'lib/print.ts', code: "console.log('x');\n", refused: 'lint/suspicious/noConsole' },
  {
    file: 'lib/floating.ts',
    code: 'async function save(): Promise<void> {}\nexport const save1 = (): void => {\n  save();\n};\n',
    refused: 'lint/nursery/noFloatingPromises',
  },
  {
    file: 'lib/ignored.ts',
    code: 'async function save(): Promise<void> {}\nexport const save1 = (): void => {\n  void save();\n};\n',
  },
  {
    file: 'lib/through/caller.ts',
    code: "import { save } from './callee.ts';\n\nexport const save1 = (): void => {\n  save().then(() => 1);\n};\n",
    refused: 'lint/nursery/noFloatingPromises',
  },
  { file: 'lib/through/callee.ts', code: 'export async function save(): Promise<void> {}\n' },
  {
    file: 'lib/byte-string.ts',
    code: "export type ByteString = string & { brand: true };\nexport const root = '' as ByteString;\n",
  },
  {
    file: 'lib/cast.ts',
    code: "import type { ByteString } from './byte-string.ts';\n\nexport const name = 'name' as ByteString;\n",
    refused: 'plugin',
  },
  {
    file: 'lib/casts.ts',
    code: "import type { ByteString } from './byte-string.ts';\n\nexport const names = ['name'] as readonly ByteString[];\n",
    refused: 'plugin',
  },
  { file: 'lib/anything.ts', code: 'export type X = any;\n', refused: 'lint/suspicious/noExplicitAny' },
];

describe('the linter', () => {
  let directory: string;
  /** file -> categories of its diagnostics */
  const found = new Map<string, string[]>();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'paddock-lint-'));
    await cp(join(root, 'biome.json'), join(directory, 'biome.json'));
    for (const file of await readdir(join(root, 'scripts')))
      if (file.endsWith('.grit')) await cp(join(root, 'scripts', file), join(directory, 'scripts', file));
    await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
    for (const { file, code } of SNIPPETS) {
      await mkdir(dirname(join(directory, file)), { recursive: true });
      await writeFile(join(directory, file), code);
    }
    for (const { category, location } of await lint(directory)) {
      const path = typeof location.path === 'string' ? location.path : location.path.file;
      found.set(path, [...(found.get(path) ?? []), category]);
    }
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  for (const { file, code, refused } of SNIPPETS) {
    it(`${refused ? 'refuses' : 'allows'} in ${file}: ${code.trim()}`, () => {
      const categories = found.get(file) ?? [];
      if (refused) expect(categories).toContain(refused);
      else expect(categories).toEqual([]);
    });
  }
});

describe('knip', () => {
  it('refuses unused exports and unreachable modules', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'paddock-knip-'));
    try {
      await cp(join(root, 'knip.json'), join(directory, 'knip.json'));
      await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
      const files = {
        'package.json': '{ "type": "module" }',
        'app/main.ts': "import { used } from '../lib/some.ts';\nused();\n",
        'lib/some.ts': 'export const used = () => inside();\nexport const inside = () => 1;\n',
        'lib/unreached.ts': 'export {};\n',
      };
      for (const [file, code] of Object.entries(files)) {
        await mkdir(dirname(join(directory, file)), { recursive: true });
        await writeFile(join(directory, file), code);
      }
      expect((await unused(directory)).sort()).toEqual(['lib/some.ts: inside', 'lib/unreached.ts']);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

/** Returns knip's report on a directory: `file: name` for an export, `file` for a module. */
function unused(directory: string): Promise<string[]> {
  const knip = join(root, 'node_modules/.bin/knip');
  return new Promise((done, failed) => {
    // Exit code 1 is expected: knip found something.
    execFile(knip, ['--reporter=compact', '--no-progress'], { cwd: directory }, (_error, stdout, stderr) => {
      const lines = stdout.split('\n').filter((line) => /^lib\//.test(line));
      if (lines.length > 0) done(lines.map((line) => line.trim()));
      else failed(new Error(`knip did not report: ${stderr}${stdout}`));
    });
  });
}

interface Diagnostic {
  category: string;
  location: { path: string | { file: string } };
}

function lint(directory: string): Promise<Diagnostic[]> {
  const biome = join(root, 'node_modules/.bin/biome');
  const flags = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', '.'];
  return new Promise((done, failed) => {
    // Exit code 1 is expected: Biome found errors. Its output shows whether it ran.
    execFile(biome, flags, { cwd: directory, maxBuffer: 64 << 20 }, (_error, stdout, stderr) => {
      try {
        done((JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics);
      } catch {
        failed(new Error(`biome did not report: ${stderr}${stdout}`));
      }
    });
  });
}
