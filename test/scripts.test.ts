import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const SCRIPTS = resolve(import.meta.dirname, '../scripts');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'paddock-scripts-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function run(script: string, ...args: string[]): { code: number | null; out: string } {
  const { status, stdout } = spawnSync(process.execPath, [join(SCRIPTS, script), ...args], {
    cwd: directory,
    encoding: 'utf8',
  });
  return { code: status, out: stdout };
}

it('the lists of tests for virtual machines name existing ones', () => {
  const lists = `import(${JSON.stringify(join(SCRIPTS, 'vm/tests.mjs'))})`;
  const program = `${lists}.then(({ ALL, CI }) => console.log(JSON.stringify([...ALL, ...CI].flat())))`;
  const named = JSON.parse(spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' }).stdout) as string[];
  expect(named.filter((path) => !existsSync(resolve(SCRIPTS, '..', path)))).toEqual([]);
});

it('the docker run line in deploy/compose.yaml grants what the service of the file does', () => {
  const text = readFileSync(resolve(SCRIPTS, '../deploy/compose.yaml'), 'utf8');
  const { services } = parse(text) as { services: Record<string, Record<string, string[]>> };
  const { ports, cap_drop, cap_add, security_opt, devices, tmpfs, volumes } = services.paddock!;
  const line = text.replaceAll(/^# +/gm, '').replaceAll('\\\n', '');
  const [, words = ''] = /docker run (.*) paddock\n/.exec(line) ?? [];
  const given = (flag: string) => [...words.matchAll(new RegExp(`${flag} (\\S+)`, 'g'))].map(([, value]) => value);
  expect([given('-p'), given('--device'), given('--tmpfs'), given('-v')]).toEqual([ports, devices, tmpfs, volumes]);
  expect([given('--cap-drop'), given('--cap-add')]).toEqual([cap_drop, cap_add]);
  expect(given('--security-opt')).toEqual(security_opt!.map((each) => each.replace('./seccomp', 'deploy/seccomp')));
  expect(words).toContain('--init --restart unless-stopped --stop-timeout 15 ');
  expect(words).toContain('--cgroupns private --read-only ');
});

describe('what comes from the network', () => {
  /** A command that fails so many times. */
  function fetchAfter(failures: number) {
    const count = join(directory, 'count');
    const command = `echo . >>${count}; [ $(wc -l <${count}) -gt ${failures} ] || { echo it broke; exit 7; }; echo fetched`;
    const env = { ...process.env, FROM_NETWORK_PAUSE: '0' };
    const args = [join(SCRIPTS, 'from-network.sh'), 'sh', '-c', command];
    const { status, stdout, stderr } = spawnSync('sh', args, { cwd: directory, env, encoding: 'utf8' });
    const attempts = readFileSync(count, 'utf8').length / 2;
    return { status, stdout, said: stderr.split('\n').map((line) => line.replace(/: sh -c .*/, '')), attempts };
  }

  it('is asked for once if it comes', () => {
    expect(fetchAfter(0)).toEqual({ status: 0, stdout: '', said: [''], attempts: 1 });
  });

  it('is asked for again, visibly, after a failure', () => {
    const said = ['it broke', 'from-network: attempt 1 failed (exit code 7)', 'from-network: once more in 0 s', ''];
    expect(fetchAfter(1)).toEqual({ status: 0, stdout: '', said, attempts: 2 });
  });

  it('fails with the third failure', () => {
    const { status, said, attempts } = fetchAfter(9);
    expect({ status, attempts, last: said.at(-2) }).toEqual({
      status: 7,
      attempts: 3,
      last: 'from-network: attempt 3 failed (exit code 7)',
    });
  });
});

it('systemd accepts the unit, and reserves a user of the default range', () => {
  const settings = readFileSync(resolve(SCRIPTS, '../deploy/systemd/paddock.service'), 'utf8');
  const unit = join(directory, 'paddock.service');
  writeFileSync(unit, settings);
  expect(spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })).toMatchObject({ status: 0 });
  expect(settings).toContain('\nDelegate=yes\n');
  expect(settings).not.toMatch(/^(Private|Protect|Restrict|SystemCallFilter)/m);
  const users = readFileSync(resolve(SCRIPTS, '../deploy/systemd/paddock.sysusers'), 'utf8');
  const { runtime } = parse(readFileSync(resolve(SCRIPTS, '../configs/server.yaml'), 'utf8')) as {
    runtime: { uid_range: { start: number } };
  };
  expect(users).toContain(`u paddock-sandbox ${runtime.uid_range.start} `);
});

it('the documented installation has every file of the unit, and keys before its first start', () => {
  const page = readFileSync(resolve(SCRIPTS, '../docs/operations.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const [install = '', configure = '', start = ''] = blocks;
  expect(start).toBe('systemctl enable --now paddock\n');
  const storage = `storage: {codebase_path: ${directory}/s/c, mount_path: ${directory}/s/m, db_path: ${directory}/s/db}`;
  const script = `${install.replace(/^(npm|system).*\n/gm, '')}
    sed -i '/^storage:/,/^[a-z]*:$/{s|^storage:.*|${storage}|; /^  /d}' /etc/paddock/server.yaml
    ${configure}`.replaceAll(/ \/(etc|usr)\//g, ` ${directory}/$1/`);
  const done = spawnSync('sh', ['-euc', script], { cwd: resolve(SCRIPTS, '..'), encoding: 'utf8' });
  expect(done).toMatchObject({ status: 0, stdout: expect.stringMatching(/^pdk_\S+\n$/), stderr: '' });
  const unit = readFileSync(join(directory, 'etc/systemd/system/paddock.service'), 'utf8');
  const paths = [...unit.matchAll(/(?:Documentation=file:\/\/|-config |env node )(\S+)/g)].map(([, path]) => path!);
  expect(paths).toHaveLength(3);
  for (const path of paths) expect(existsSync(join(directory, path)), path).toBe(true);
  expect(readFileSync(join(directory, 'etc/paddock/server.yaml'), 'utf8')).toMatch(/^ {2}mode: keys /m);
});

it('all packages of a release have one version', () => {
  const read = (path: string) => readFileSync(resolve(SCRIPTS, '..', path), 'utf8');
  const { version } = JSON.parse(read('package.json'));
  const manifests = ['cli', 'typescript', 'adapters'].map((name) => JSON.parse(read(`clients/${name}/package.json`)));
  expect(manifests.map((each) => each.version)).toEqual([version, version, version]);
  expect(manifests[2].peerDependencies['paddock-sandbox']).toBe(version);
  expect(read('clients/python/paddock_sandbox/_version.py')).toContain(`__version__ = "${version}"`);
  expect(read('clients/adapters/python/pyproject.toml')).toMatch(
    new RegExp(`^version = "${version}"[\\s\\S]*"paddock-sandbox == ${version}"`, 'm'),
  );
});

describe('the Debian package', () => {
  const made = () => {
    const done = spawnSync('node', [join(SCRIPTS, 'packages.mjs'), '--only=deb', directory], { encoding: 'utf8' });
    expect(done).toMatchObject({ status: 0, stderr: '' });
    return done.stdout.trim();
  };

  it('has the program, the unit, the documentation and the configuration, which root owns', () => {
    const deb = made();
    const { stdout } = spawnSync('dpkg-deb', ['--contents', deb], { encoding: 'utf8' });
    const members = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/));
    expect(new Set(members.map(([, owner]) => owner))).toEqual(new Set(['root/root']));
    const names = members.map(([, , , , , name = '']) => name);
    const wanted = [
      'etc/paddock/server.yaml',
      'usr/bin/paddock',
      'usr/lib/paddock/docs/operations.md',
      'usr/lib/paddock/server.mjs',
    ];
    expect(names).toEqual(expect.arrayContaining(wanted.map((name) => `./${name}`)));
    // A changed configuration is kept by an upgrade.
    expect(spawnSync('dpkg-deb', ['--info', deb, 'conffiles'], { encoding: 'utf8' }).stdout).toBe(
      '/etc/paddock/server.yaml\n',
    );
  });

  it('is the same for the same files', () => {
    const first = readFileSync(made());
    expect(readFileSync(made()).equals(first)).toBe(true);
  });
});

describe('the summary of a test run', () => {
  interface Counts {
    passed?: number;
    failed?: number;
    pending?: number;
    tests?: string[];
    files?: object[];
  }

  function summary({ passed = 0, failed = 0, pending = 0, tests = [], files = [] }: Counts) {
    const assertionResults = tests.map((status) => ({ status, fullName: `a test that is ${status}` }));
    const report = {
      numPassedTests: passed,
      numFailedTests: failed,
      numPendingTests: pending,
      numTodoTests: 0,
      testResults: [{ name: 'a.test.ts', status: 'passed', assertionResults }, ...files],
    };
    writeFileSync(join(directory, 'report.json'), JSON.stringify(report));
    return run('test-summary.mjs', 'report.json');
  }

  it('succeeds when all passed', () => {
    expect(summary({ passed: 2, tests: ['passed', 'passed'] })).toEqual({ code: 0, out: '2 passed, 0 failed\n' });
  });

  it('fails when one failed', () => {
    expect(summary({ passed: 1, failed: 1, tests: ['passed', 'failed'] })).toEqual({
      code: 1,
      out: 'failed: a.test.ts: a test that is failed: \n1 passed, 1 failed\n',
    });
  });

  it('fails when one was skipped, and names it', () => {
    const { code, out } = summary({ passed: 1, pending: 1, tests: ['passed', 'skipped'] });
    expect([code, out]).toEqual([1, 'not run (skipped): a.test.ts: a test that is skipped\n1 passed, 0 failed\n']);
  });

  it('counts a file that could not be loaded as a failure', () => {
    const broken = { name: 'b.test.ts', status: 'failed', assertionResults: [] };
    expect(summary({ passed: 1, tests: ['passed'], files: [broken] })).toEqual({
      code: 1,
      out: 'failed: b.test.ts: \n1 passed, 1 failed\n',
    });
  });

  it('fails when nothing ran, or there is no report', () => {
    expect(summary({}).code).toBe(1);
    expect(run('test-summary.mjs').code).toBe(1);
    expect(run('test-summary.mjs', 'absent.json').code).toBe(1);
  });

  it('adds several reports, and fails if one is missing', () => {
    summary({ passed: 2, failed: 1, tests: ['passed', 'passed', 'failed'] });
    expect(run('test-summary.mjs', 'report.json', 'report.json').out).toContain('\n4 passed, 2 failed\n');
    summary({ passed: 2, tests: ['passed', 'passed'] });
    expect(run('test-summary.mjs', 'report.json', 'absent.json')).toEqual({
      code: 1,
      out: 'no test was run: absent.json\n2 passed, 0 failed\n',
    });
  });
});

it('the slowest test files of all reports are named, the slowest first', () => {
  const report = (...ms: number[]) => ({
    testResults: ms.map((each) => ({
      name: join(directory, `test/${each}.test.ts`),
      startTime: 1000,
      endTime: 1000 + each,
    })),
  });
  writeFileSync(join(directory, 'a.json'), JSON.stringify(report(...Array.from({ length: 30 }, (_, index) => index))));
  writeFileSync(join(directory, 'b.json'), JSON.stringify(report(12_345)));
  const { code, out } = run('slowest-tests.mjs', 'a.json', 'b.json', 'absent.json');
  const lines = out.trimEnd().split('\n');
  expect([code, lines.length]).toEqual([0, 20]);
  expect(lines.slice(0, 2)).toEqual(['   12.3 s  test/12345.test.ts', '    0.0 s  test/29.test.ts']);
});

describe('the check of node_modules', () => {
  const lock = (packages: object) => JSON.stringify({ packages });
  const wanted = {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '2.0.0', optional: true },
  };

  function look(installed?: object): number | null {
    writeFileSync(join(directory, 'package-lock.json'), lock(wanted));
    mkdirSync(join(directory, 'node_modules'), { recursive: true });
    if (installed) writeFileSync(join(directory, 'node_modules/.package-lock.json'), lock(installed));
    return run('dependencies-current.mjs').code;
  }

  it('accepts the packages of the lock file, also without those for other platforms', () => {
    expect(look({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '2.0.0' } })).toBe(0);
    expect(look({ 'node_modules/a': { version: '1.0.0' } })).toBe(0);
  });

  it('requests an install if a package is missing or has another version, or nothing was installed', () => {
    expect(look({ 'node_modules/b': { version: '2.0.0' } })).toBe(1);
    expect(look({ 'node_modules/a': { version: '1.0.1' } })).toBe(1);
    rmSync(join(directory, 'node_modules/.package-lock.json'));
    expect(look()).toBe(1);
  });
});

describe('the check of sizes', () => {
  it('refuses files of more than 300 lines and functions of more than 60, without a reason at the top', () => {
    const lines = (count: number) => 'x();\n'.repeat(count);
    const files = {
      'at-limit.ts': lines(300),
      'function-at-limit.ts': `function f() {\n${lines(58)}}\n`,
      'function.ts': `const f = () => {\n${lines(59)}};\n`,
      'long.ts': lines(301),
      'reason.ts': `// Size: one table.\n${lines(301)}`,
      'reason-in-block.ts': `/**\n * A table.\n * Size: one row an errno.\n */\n${lines(301)}`,
      'too-late.ts': `x();\n// Size: not at the top.\n${lines(301)}`,
    };
    mkdirSync(join(directory, 'lib'));
    for (const [name, code] of Object.entries(files)) writeFileSync(join(directory, 'lib', name), code);
    const { code, out } = run('lint-sizes.mjs');
    expect(code).toBe(1);
    expect(Array.from(out.matchAll(/^lib\/([^:]+)/gm), ([, name]) => name).sort()).toEqual([
      'function.ts',
      'long.ts',
      'too-late.ts',
    ]);
  });
});

describe('the check of generators', () => {
  it('refuses a generator that is called as a statement, for any name of its type', () => {
    const code = [
      'type Steps = Generator<undefined, void, void>;',
      'declare function work(): Steps;',
      'declare function all(steps: Steps): void;',
      'export function* good(): Steps { yield* work(); all(work()); }',
      'export function bad(): void { work(); }',
      '',
    ];
    writeFileSync(join(directory, 'tsconfig.json'), '{ "compilerOptions": { "target": "es2022" }, "files": ["a.ts"] }');
    writeFileSync(join(directory, 'a.ts'), code.join('\n'));
    const { code: status, out } = run('lint-steps.mjs');
    expect({ status, out }).toEqual({ status: 1, out: 'a.ts:5: the steps of this call are never taken: work();\n' });
  });
});
