import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { serverOfFile } from '../contract/use-server.ts';
import { directoryOfFile } from '../directory.ts';
import { PYTHON } from './python-packages.ts';

const PACKAGE = resolve(import.meta.dirname, '../../clients/python');
const FROM_NETWORK = resolve(import.meta.dirname, '../../scripts/from-network.sh');

const served = serverOfFile();
const directory = directoryOfFile();
let installed: string;

async function python(args: string[], more: Record<string, string> = {}): Promise<{ stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH, PYTHONPATH: installed, PYTHONDONTWRITEBYTECODE: '1', ...more };
  return promisify(execFile)(PYTHON, args, { cwd: directory, env, maxBuffer: 2 ** 24 });
}

beforeAll(async () => {
  installed = join(directory, 'installed');
  const install = ['-m', 'pip', 'install', '--quiet', '--no-compile', '--target', installed, PACKAGE];
  await promisify(execFile)('sh', [FROM_NETWORK, PYTHON, ...install]);
});

describe('the Python client', () => {
  it('passes its own tests from an installed wheel, against the built server', async () => {
    const env = { PADDOCK_URL: served.url, PADDOCK_PYTHON: PACKAGE };
    const { stderr } = await python(['-W', 'error', '-m', 'unittest', 'discover', '-s', join(PACKAGE, 'tests')], env);
    expect(stderr).toMatch(/Ran \d\d+ tests in [\d.]+s\n\nOK\n$/);
  });

  it('is installed as its wheel says', async () => {
    const script = `
import base64, csv, glob, hashlib, sys
(info,) = glob.glob(sys.argv[1] + '/paddock_sandbox-*.dist-info')
listed = set()
for path, digest, size in csv.reader(open(info + '/RECORD')):
    listed.add(path)
    if path.endswith('RECORD'): continue
    content = open(sys.argv[1] + '/' + path, 'rb').read()
    found = 'sha256=' + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
    assert (found, str(len(content))) == (digest, size), path
present = {path[len(sys.argv[1]) + 1:] for path in glob.glob(sys.argv[1] + '/paddock_sandbox*/**/*.*', recursive=True)}
assert present <= listed | {info[len(sys.argv[1]) + 1:]}, present - listed
from importlib.metadata import metadata, version
import paddock_sandbox
assert version('paddock-sandbox') == paddock_sandbox.__version__
assert metadata('paddock-sandbox')['License-Expression'] == 'MIT'
print(open(paddock_sandbox.__path__[0] + '/py.typed').read() + 'complete')`;
    expect((await python(['-c', script, installed])).stdout).toBe('complete\n');
  });

  it('is small files of Python 3.11', async () => {
    const script = `
import ast, glob, sys
for path in sorted(glob.glob(sys.argv[1] + '/**/*.py', recursive=True)):
    text = open(path, encoding='utf-8').read()
    tree = ast.parse(text, path, feature_version=(3, 11))
    compile(tree, path, 'exec')
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > 120: print(f'{path}:{number}: {len(line)} characters')
    if path.endswith(('/messages.py', '/requests.py', '/api.py')): continue
    if len(lines) > 300: print(f'{path}: {len(lines)} lines')
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            documented = isinstance(node.body[0], ast.Expr)
            begin = node.body[0].end_lineno if documented else node.lineno
            if node.end_lineno - begin > 60: print(f'{path}:{node.lineno}: {node.end_lineno - begin} lines')`;
    expect((await python(['-W', 'error', '-c', script, PACKAGE])).stdout).toBe('');
  });
});
