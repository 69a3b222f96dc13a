/**
 * Runs tests of this checkout on a kernel with cgroup v2 only, in a virtual machine (QEMU, emulated, so that it works
 * inside another one) with Debian's kernel and this machine's programs. Most machines that run the tests have cgroup v1.
 * If the virtual machine cannot be built, the run fails; nothing is skipped.
 *
 * usage: vm.mjs [--ci] [--report FILE] [TEST...]
 *   --ci      run only the part that depends on cgroups: a few minutes on two CPUs
 *   --report  write vitest's JSON report to FILE
 *   TEST      test files or directories that replace the lists in vm/tests.mjs
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { ALL, CI } from './vm/tests.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'paddock-vm');
const MEMORY_MIB = 1536;
const EXCHANGE_BYTES = 16 << 20;
/** Limits by the guest's clock, which a busy host does not make faster. The tests of --ci take about 60 s of it. */
const SECONDS = { ci: 600, all: 7200 };
/** CPU time limit of QEMU for each guest second, for a guest that hangs with interrupts off. It normally takes 2 to 3. */
const CPU_SECONDS_EACH = 10;

/** Not needed in the guest: the tools of the build, which are half of node_modules. */
const LEFT_OUT = new Set([
  '.git',
  '.ci',
  'bench',
  '@biomejs',
  '@redocly',
  'typescript',
  '.cache',
  '.vite',
  '.vite-temp',
]);

const { values, positionals } = parseArgs({
  options: { ci: { type: 'boolean', default: false }, report: { type: 'string' } },
  allowPositionals: true,
});
const machines = positionals.length > 0 ? [positionals] : values.ci ? CI : ALL;
const seconds = values.ci ? SECONDS.ci : SECONDS.all;
// vitest ignores a name that matches nothing if another name matches.
const absent = [...positionals, ...CI.flat(), ...ALL.flat()].filter((test) => !existsSync(join(ROOT, test)));
if (absent.length > 0) throw new Error(`no such tests: ${absent.join(', ')}`);

const shell = (script, ...args) =>
  execFileSync('sh', [join(ROOT, 'scripts/vm', script), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();

/** The packages of agent frameworks, which are installed in some checkouts. */
const FRAMEWORKS = join(ROOT, 'clients/adapters/node_modules');

/** Builds the disk with the checkout, which all machines share. Returns its path. */
function checkoutDisk(directory) {
  const tree = join(directory, 'checkout');
  cpSync(ROOT, tree, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    filter: (path) => !LEFT_OUT.has(basename(path)) && path !== FRAMEWORKS,
  });
  const disk = join(directory, 'checkout.img');
  const format = ['-q', '-t', 'ext4', '-O', '^has_journal', '-m', '0', '-d', tree, disk, '1G'];
  execFileSync('/usr/sbin/mke2fs', format, { stdio: ['ignore', 'ignore', 'inherit'] });
  rmSync(tree, { recursive: true });
  return disk;
}

/** Builds the disk that passes a machine its command and receives the report. Returns its path. */
function exchangeDisk(directory, index, tests) {
  const words = tests.map((test) => `'${test.replaceAll("'", `'\\''`)}'`).join(' ');
  const vitest = 'node node_modules/vitest/vitest.mjs run --config test/vm/vitest.config.ts';
  const disk = join(directory, `exchange-${index}.img`);
  writeFileSync(disk, `${vitest} --reporter=default --reporter=json --outputFile.json=vm-report.json ${words} | cat\n`);
  truncateSync(disk, EXCHANGE_BYTES);
  return disk;
}

function machine(kernel, disks) {
  const drives = disks.flatMap(({ file, mode }, index) => [
    ...['-drive', `file=${file},format=raw,if=none,id=disk${index}${mode}`],
    ...['-device', `nvme,drive=disk${index},serial=disk${index}`],
  ]);
  return [
    // One instruction takes 2 ns of guest time, so no deadline in the guest expires early on a busy host.
    ...['-accel', 'tcg,thread=single', '-icount', 'shift=1,sleep=on', '-cpu', 'max', '-smp', '1'],
    ...['-m', String(MEMORY_MIB), '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-serial', 'stdio', '-kernel', join(kernel, 'vmlinuz')],
    // The kernel passes unknown parameters to init as environment variables.
    ...['-append', `console=ttyS0 root=/dev/nvme0n1 rw init=/init quiet loglevel=1 panic=-1 SECONDS_LEFT=${seconds}`],
    ...drives,
  ];
}

/**
 * Runs a machine until it powers itself off. Returns the exit code or signal of QEMU, and the console output. The first
 * machine's console is shown live instead.
 */
async function run(args, first) {
  const bounded = [`--cpu=${seconds * CPU_SECONDS_EACH}`, 'qemu-system-x86_64', ...args];
  const child = spawn('prlimit', bounded, { stdio: ['ignore', first ? 'inherit' : 'pipe', 'inherit'] });
  const end = () => child.kill('SIGKILL');
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, end);
  const ended = new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code, signal) => done(signal ?? `exit code ${code}`));
  });
  const console = child.stdout === null ? '' : text(child.stdout);
  const how = await ended;
  return { how, console: await console };
}

/** Returns vitest's JSON report; undefined if the machine ended before it was written. */
function reportOf(disk) {
  const content = readFileSync(disk);
  const json = content.toString('utf8', 0, content.indexOf(0));
  return json.startsWith('{') ? JSON.parse(json) : undefined;
}

/** The fields that scripts/test-summary.mjs reads. */
function together(reports) {
  const counts = ['numPassedTests', 'numFailedTests', 'numPendingTests', 'numTodoTests'];
  const sums = counts.map((name) => [name, reports.reduce((sum, report) => sum + report[name], 0)]);
  return { ...Object.fromEntries(sums), testResults: reports.flatMap(({ testResults }) => testResults) };
}

const kernel = shell('packages.sh', CACHE);
const rootDisk = shell('root-disk.sh', CACHE, kernel);
// Not in CACHE: this directory is private to the run and removed at its end.
const directory = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'paddock-vm-'));
try {
  const checkout = checkoutDisk(directory);
  const reports = await Promise.all(
    machines.map(async (tests, index) => {
      const exchange = exchangeDisk(directory, index, tests);
      const disks = [
        // Writes to it are discarded.
        { file: rootDisk, mode: ',snapshot=on' },
        { file: checkout, mode: ',readonly=on' },
        { file: exchange, mode: '' },
      ];
      const { how, console } = await run(machine(kernel, disks), index === 0);
      process.stdout.write(console);
      const report = reportOf(exchange);
      if (!report) process.stdout.write(`the machine for ${tests.join(' ')} ended (${how}) without a report\n`);
      return report;
    }),
  );
  // If one machine has no report, none is written: tests that were not run have not passed.
  const whole = reports.every(Boolean);
  if (values.report && whole) writeFileSync(values.report, JSON.stringify(together(reports)));
  process.exitCode = whole && reports.every(({ success }) => success) ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
