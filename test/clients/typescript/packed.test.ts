import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build, transform } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { directoryOfFile } from '../../directory.ts';
import { servedOnce } from './served.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PACKAGE = join(ROOT, 'clients/typescript');
const served = servedOnce();
const run = promisify(execFile);

/** An empty folder, with the packed package installed in it. */
const folder = directoryOfFile();
const inFolder = (...command: [string, ...string[]]) =>
  run(command[0], command.slice(1), {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, PADDOCK_URL: served.url },
  });

beforeAll(async () => {
  // Without the variables of `npm test`, which name the server's package.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const { stdout } = await run('npm', ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', folder], {
    cwd: PACKAGE,
    env,
  });
  await writeFile(join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const install = [
    'install',
    '--offline',
    '--no-audit',
    '--no-fund',
    '--silent',
    `./${stdout.trim().split('\n').at(-1)}`,
  ];
  await inFolder('npm', ...(install as []));
}, 400_000);

const example = async () => {
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  return /```ts\n(.*?)```/s.exec(readme)![1]!;
};

it('is installed into an empty folder and runs there: the example of its README', async () => {
  await mkdir(join(folder, 'repo/src'), { recursive: true });
  await writeFile(join(folder, 'repo/test.sh'), 'echo tested; ls -a\n');
  await writeFile(join(folder, 'repo/src/main.txt'), 'old\n');
  await writeFile(join(folder, 'repo/.env'), 'SECRET=1\n');
  const { code } = await transform(await example(), { loader: 'ts', target: 'node20', format: 'esm' });
  await writeFile(join(folder, 'example.js'), `${code}import 'paddock-sandbox/local';\n`);
  const { stdout } = await inFolder(process.execPath, 'example.js');
  expect(stdout).toMatch(/tested\n.*0 none .*-old\n\+new\n.*\[ 'src\/main.txt' \] \[\]/s);
  expect(stdout).not.toMatch(/\.env\n/);
  expect(await readFile(join(folder, 'repo/src/main.txt'), 'utf8')).toBe('new\n');
});

it('has types that need nothing else', async () => {
  await symlink(join(ROOT, 'node_modules/typescript'), join(folder, 'typescript'));
  const wrong = '// @ts-expect-error\nawait sandbox.run(1);\n// @ts-expect-error\nawait sandbox.api.exec({});\n';
  await writeFile(join(folder, 'sample.ts'), `${await example()}${wrong}`);
  const compilerOptions = {
    ...{ strict: true, noEmit: true, exactOptionalPropertyTypes: true, target: 'ES2022', module: 'NodeNext' },
    ...{ lib: ['ES2022', 'DOM', 'ESNext.Disposable'], types: [] },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['sample.ts'] }));
  const compiled = inFolder(process.execPath, 'typescript/bin/tsc');
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

it('runs without anything of Node.js, bundled for browsers', async () => {
  const program = `
    import { ConnectionFailedError, Paddock } from 'paddock-sandbox';
    const sandbox = await new Paddock({ url: '${served.url}' }).sandboxes.create({ rules: { write: ['**'] } });
    await sandbox.files.write('a.txt', new Blob(['b']).stream());
    const { stdout } = await sandbox.run('cat a.txt; echo c', { stdin: new Uint8Array([1]) });
    const files = await sandbox.files.upload('./local').catch((error) => error.message);
    await sandbox.destroy();
    console.log(JSON.stringify([stdout, files]));
  `;
  const { outputFiles, warnings } = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    // Nothing but what browsers have, too. The fetch of Node.js itself needs the globals.
    define: { globalThis: 'page' },
    banner: { js: 'const [page, process, Buffer] = [{}];' },
  });
  const bundle = outputFiles[0]!.text;
  expect([warnings, bundle.match(/node:\w+|\brequire\(/g)]).toEqual([[], null]);
  await writeFile(join(folder, 'browser.js'), bundle);
  const { stdout } = await inFolder(process.execPath, 'browser.js');
  expect(JSON.parse(stdout)).toEqual(['bc\n', expect.stringMatching(/local directories need Node/)]);
});
