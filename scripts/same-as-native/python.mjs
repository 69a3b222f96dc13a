import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The source of a package with its tests, and `mirror` with wheels of all that these need. */
const source = (name, wheels) => (directory) => {
  const mirror = join(directory, 'mirror');
  mkdirSync(mirror);
  const pip = (...args) =>
    execFileSync('python3', ['-m', 'pip', 'download', '-q', '-d', mirror, ...args], { stdio: ['ignore', 2, 2] });
  pip('--no-deps', '--no-binary', name, name);
  const archive = readdirSync(mirror).find((each) => each.endsWith('.tar.gz')) ?? '';
  execFileSync('tar', ['-xzf', join(mirror, archive), '-C', mirror]);
  const unpacked = join(mirror, archive.replace(/\.tar\.gz$/, ''));
  cpSync(unpacked, directory, { recursive: true });
  for (const path of [unpacked, join(mirror, archive)]) rmSync(path, { recursive: true });
  pip(name, ...wheels);
  for (const each of readdirSync(mirror)) if (each.startsWith(`${name}-`)) rmSync(join(mirror, each));
  writeFileSync(join(mirror, 'requirements.txt'), wheels.map((wheel) => `${wheel}\n`).join(''));
};

const PIP = '.venv/bin/pip install -q --no-index --find-links mirror';
const VERIFY = 'import ssl, pip._vendor.certifi as c; ssl.create_default_context(cafile=c.where())';

const steps = (tests) => [
  ['venv', 'python3 -m venv .venv'],
  ['pip', `${PIP} -r mirror/requirements.txt`],
  ['pip -e', `${PIP} --no-build-isolation -e .`],
  ['certificates of pip', `.venv/bin/python -c "${VERIFY}"`],
  ['pytest', `.venv/bin/python -m pytest -q -p no:cacheprovider ${tests}`],
];

export const flask = {
  prepare: source('flask', ['pytest<9', 'flit_core', 'asgiref', 'python-dotenv']),
  steps: steps('tests'),
  installed: ['.venv'],
};

export const requests = {
  prepare: source('requests', [
    'pytest<10',
    'pytest-mock',
    'pytest-httpbin',
    'httpbin',
    'trustme',
    'PySocks',
    'setuptools>=77',
    'wheel',
  ]),
  // Of names and hosts outside, which a sandbox without a network does not have.
  steps: steps(
    'tests --deselect tests/test_requests.py::TestTimeout -k "not connect_timeout and not proxy_error and not conntimeout"',
  ),
  installed: ['.venv'],
};
