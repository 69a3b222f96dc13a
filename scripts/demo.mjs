/**
 * Shows the service on real input: starts the built server with an empty state, uploads this repository, runs commands
 * in a sandbox with rules of all four levels, and checks every result. Exit code 0 if all checks pass. Leaves nothing
 * behind.
 */
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { settings } from './demo/machine.mjs';
import { archive, buildPackages, checkOut, filesOf, isCode } from './demo/project.mjs';
import { Report } from './demo/report.mjs';
import { reviewAndCommit } from './demo/review.mjs';
import { mountsBelow, Service } from './demo/service.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const SECRET = randomUUID();

const RULES = [
  { pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB' },
  { pattern: 'lib', permission: 'PERMISSION_READ', type: 'PATTERN_DIRECTORY' },
  { pattern: 'customers.csv', permission: 'PERMISSION_VIEW', type: 'PATTERN_FILE' },
  { pattern: '.env', permission: 'PERMISSION_NONE', type: 'PATTERN_FILE' },
];

/** The expected result of a command. */
const succeeds = (holds) => (result) => result.exit_code === 0 && holds(result.stdout);
const refused = (words) => (result) => result.exit_code !== 0 && result.stderr.includes(words);

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'paddock-demo-')));
// The users of sandboxes must be able to traverse it to the mount.
chmodSync(directory, 0o711);
const report = new Report();
const service = new Service();
let gaveUp;

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => giveUp(130));
// The reader of the output has exited, as `head` does.
process.stdout.on('error', () => giveUp(1));

try {
  report.title('Paddock: this repository in a sandbox, with rules enforced by its file system');
  const { codebase, checkout } = await setUp();
  const sandbox = await createSandbox(codebase);
  await dailyWork(sandbox, (...words) => checkout.git(checkout.project, ...words));
  await rulesHold(sandbox);
  await writesStay(codebase, sandbox);
  await reviewAndCommit({ report, service, command, createSandbox, succeeds, refused }, codebase, {
    ...checkout,
    directory,
  });
  await overGrpc(sandbox);
  await takeDown(codebase, sandbox);
} catch (error) {
  // After a stop signal, the operations in progress fail with errors.
  await gaveUp;
  report.check(`the demo runs to its end: ${error.stack}`, false);
} finally {
  await cleanUp();
}
process.exitCode = report.end();

async function setUp() {
  report.section('Set up');
  await report.step('server', async () => {
    const bundle = join(ROOT, 'dist/server.mjs');
    const { http_addr, grpc_addr } = await service.start({ root: ROOT, bundle, directory, sections: settings() });
    return { text: `dist/server.mjs answers REST on ${http_addr}, gRPC on ${grpc_addr}` };
  });
  const project = join(directory, 'project');
  const git = await report.step('project', async () => {
    const run = checkOut(ROOT, project, join(directory, 'home'));
    writeFileSync(join(project, '.env'), `API_TOKEN=${SECRET}\n`);
    writeFileSync(join(project, 'customers.csv'), 'name,card\nAda,4111-1111\n');
    return { text: 'a clone of this repository, a secret in .env and a customers.csv', value: run };
  });
  const codebase = await report.step('codebase', async () => {
    const made = await service.call('POST', '/v1/codebases', { name: 'paddock', owner_id: 'demo' });
    return { text: made.id, value: made };
  });
  await report.step('upload', async () => {
    const packages = buildPackages(ROOT).flatMap((path) => [...filesOf(join(ROOT, path), path)]);
    const trees = [
      { root: project, paths: [...filesOf(project)] },
      { root: ROOT, paths: packages.filter(isCode) },
    ];
    const sent = trees.flatMap(({ paths }) => paths).length;
    await service.importFiles(codebase.id, archive(trees, directory));
    const { file_count, total_size } = await service.call('GET', `/v1/codebases/${codebase.id}`);
    report.check(`the codebase counts ${sent} files`, file_count === sent, `${file_count}`);
    return {
      text: `${file_count} files, ${(total_size / 1e6).toFixed(1)} MB: includes .git and the packages that its build needs`,
    };
  });
  return { codebase, checkout: { project, git } };
}

function createSandbox(codebase) {
  return report.step('sandbox', async () => {
    const sandbox = await service.call('POST', '/v1/sandboxes', { codebase_id: codebase.id, permissions: RULES });
    const rules = RULES.map(({ pattern, permission }) => `${permission.slice(11).toLowerCase().padEnd(6)} ${pattern}`);
    return { text: [`${sandbox.id} is ${sandbox.status}`, ...rules].join('\n'), value: sandbox };
  });
}

function exec(sandbox, command, more = {}) {
  return service.call('POST', `/v1/sandboxes/${sandbox.id}/exec`, { command, timeout: 60, ...more });
}

function command(sandbox, text, expected, holds) {
  return report.command(text, () => exec(sandbox, text), expected, holds);
}

async function dailyWork(sandbox, git) {
  report.section('Daily work');
  const log = git('log', '--oneline', '-n', '3');
  await command(
    sandbox,
    'git log --oneline -n 3',
    'git log shows the same history as outside',
    succeeds((out) => out === log),
  );
  await command(
    sandbox,
    'git status --short',
    'git status lists the untracked file, and not the hidden one',
    succeeds((out) => out === '?? customers.csv\n'),
  );
  const count = git('grep', '-c', 'ServiceError', '--', 'lib').trim().split('\n').length;
  await command(
    sandbox,
    'grep -rl ServiceError lib | wc -l',
    'grep finds the same files as git grep outside',
    succeeds((out) => Number(out) === count),
  );
  const node = process.execPath.startsWith('/usr/') ? 'node' : process.execPath;
  await command(
    sandbox,
    `${node} -p "const p = require('./package.json'); p.name + ' on ' + process.version"`,
    'node runs a program',
    succeeds((out) => out === `paddock on ${process.version}\n`),
  );
  const python = `python3 -c "import glob; print(sum(len(open(f).readlines()) for f in glob.glob('lib/**/*.ts', recursive=True)), 'lines in lib')"`;
  await command(
    sandbox,
    python,
    'python3 reads every source file',
    succeeds((out) => /^[1-9]\d+ lines in lib\n$/.test(out)),
  );
  const build = `rm -rf dist && ${node} esbuild.config.mjs && ${node} dist/server.mjs --version && ls -l dist`;
  await command(
    sandbox,
    build,
    'the uploaded project builds, and the built server runs',
    succeeds((out) => out.includes('server.mjs')),
  );
}

async function rulesHold(sandbox) {
  report.section('The rules hold');
  await command(
    sandbox,
    'head -n 1 lib/errors.ts',
    'read: contents can be read',
    succeeds((out) => out !== ''),
  );
  await command(sandbox, 'echo x >> lib/errors.ts', 'read: contents cannot be changed', refused('Permission denied'));
  await command(sandbox, 'mv lib elsewhere', 'read: the directory cannot be moved', refused('Permission denied'));
  await command(
    sandbox,
    'stat -c "%n %s bytes" customers.csv',
    'view: the file is listed',
    succeeds((out) => out.includes('bytes')),
  );
  await command(sandbox, 'cat customers.csv', 'view: the file cannot be opened', refused('Permission denied'));
  await command(sandbox, 'cat .env', 'none: the file does not exist', refused('No such file'));
  const search = `ls -A | grep -c '^.env$'; find . -name .env | wc -l; grep -rs ${SECRET} . | wc -l`;
  await command(sandbox, search, 'none: ls, find and grep do not find it', (result) => result.stdout === '0\n0\n0\n');
  await command(
    sandbox,
    'echo API_TOKEN=mine > .env',
    'none: no file can be created in its place',
    refused('Permission denied'),
  );
  const network = `python3 -c "import socket; socket.create_connection(('1.1.1.1', 443), 2)"`;
  await command(sandbox, network, 'the sandbox has no network', refused('unreachable'));
  await command(
    sandbox,
    'id -u; grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status',
    'the command is not root, has no capability, and has a system call filter',
    succeeds((out) => !out.startsWith('0\n') && out.includes('0000000000000000') && /Seccomp:\s2/.test(out)),
  );
}

async function writesStay(codebase, sandbox) {
  report.section('Writes stay in the sandbox');
  await command(
    sandbox,
    'echo "changed in here" > README.md && git diff --stat -- README.md',
    'the sandbox sees its change',
    succeeds((out) => out.includes('README.md')),
  );
  const other = await createSandbox(codebase);
  await command(other, 'head -n 1 README.md; ls dist', 'another sandbox does not see it', (result) => {
    return !result.stdout.includes('changed in here') && result.stderr.includes('No such file');
  });
  const { body } = await service.send('GET', `/v1/codebases/${codebase.id}/files/README.md`);
  report.check('the codebase is unchanged', !body.includes('changed in here'));
  await service.call('DELETE', `/v1/sandboxes/${other.id}`);
}

async function overGrpc(sandbox) {
  report.section('Time limits, streams and both protocols');
  const slow = 'echo begun; sleep 60';
  await report.command(
    `${slow}    # timeout: 1 second`,
    () =>
      exec(sandbox, slow, { timeout: 1 }).catch((error) => ({
        stdout: '',
        stderr: error.message,
        exit_code: -1,
        error,
      })),
    'the command is killed, and the error contains its output',
    ({ error }) => error?.code === 4 && JSON.stringify(error.details).includes('begun'),
  );
  await report.step('stream', async () => {
    const began = performance.now();
    const times = [];
    let exitCode;
    const message = { sandbox_id: sandbox.id, command: 'for i in 1 2 3; do echo $i; sleep 0.1; done' };
    for await (const chunk of service.streamOverGrpc(message)) {
      if (chunk.exit_code === undefined || chunk.data.length > 0) times.push(performance.now() - began);
      else exitCode = chunk.exit_code;
    }
    report.check(
      'ExecStream delivers each line as soon as it is written, and the exit code last',
      times.length === 3 && exitCode === 0,
    );
    return { text: `gRPC ExecStream: lines after ${times.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}` };
  });
  /** @type {[string, () => Promise<unknown>][]} */
  const protocols = [
    ['REST', () => exec(sandbox, 'true')],
    ['gRPC', () => service.execOverGrpc({ sandbox_id: sandbox.id, command: 'true' })],
  ];
  for (const [name, once] of protocols) {
    await report.step(name, async () => {
      const times = [];
      for (let count = 0; count < 100; count++) {
        const began = performance.now();
        await once();
        times.push(performance.now() - began);
      }
      times.sort((a, b) => a - b);
      return { text: `100 Execs of true: ${times[50].toFixed(2)} ms at the median` };
    });
  }
}

async function takeDown(codebase, sandbox) {
  report.section('Take down');
  await report.step('sandbox', async () => {
    await service.call('DELETE', `/v1/sandboxes/${sandbox.id}`);
    return { text: 'destroyed' };
  });
  await report.step('codebase', async () => {
    await service.call('DELETE', `/v1/codebases/${codebase.id}`);
    return { text: 'deleted' };
  });
  await report.step('server', async () => {
    const code = await service.stop();
    report.check('the server exits with code 0', code === 0, `${code}`);
    report.check('no mount is left', mountsBelow(directory).length === 0);
    return { text: 'stopped' };
  });
}

function giveUp(code) {
  gaveUp ??= cleanUp().finally(() => process.exit(code));
}

async function cleanUp() {
  await service.stop();
  // A removal through a mount that a failed server left would delete the mounted files.
  if (mountsBelow(directory).length > 0) process.stderr.write(`left for inspection: ${directory}\n`);
  else rmSync(directory, { recursive: true, force: true });
}
