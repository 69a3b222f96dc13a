/**
 * Runs tests of this checkout on a kernel that has cgroup v2 alone, which most machines that run the tests have not: in
 * a virtual machine (QEMU, emulated, so that it works inside another one) with Debian's kernel and this machine's
 * programs. Nothing is skipped where it cannot be made: that is a failure.
 *
 * usage: vm.mjs [--ci] [--report FILE] [TEST...]
 *   --ci      the part that depends on cgroups, in a few minutes of two CPUs
 *   --report  vitest's JSON report goes here
 *   TEST      these test files or folders in place of the lists in vm/tests.mjs
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
/** By the machine's own clock: however busy this one is, it passes no earlier. The tests of --ci take about 60 s of it. */
const SECONDS = { ci: 600, all: 7200 };
/** A machine that hangs with interrupts off does not end itself. One of its seconds takes 2 to 3 of a CPU. */
const CPU_SECONDS_EACH = 10;

/** Not needed there: the tools of the build, half of node_modules. */
const LEFT_OUT = new Set(['.git', '.ci', 'docs', 'bench', '@biomejs', 'typescript', '.cache', '.vite', '.vite-temp']);

const { values, positionals } = parseArgs({
  options: { ci: { type: 'boolean', default: false }, report: { type: 'string' } },
  allowPositionals: true,
});
const machines = positionals.length > 0 ? [positionals] : values.ci ? CI : ALL;
const seconds = values.ci ? SECONDS.ci : SECONDS.all;
// vitest is content with a name that matches nothing beside others that do.
const absent = [...positionals, ...CI.flat(), ...ALL.flat()].filter((test) => !existsSync(join(ROOT, test)));
if (absent.length > 0) throw new Error(`no such tests: ${absent.join(', ')}`);

const shell = (script, ...args) =>
  execFileSync('sh', [join(ROOT, 'scripts/vm', script), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();

/** A disk with the checkout, for all machines. */
function checkoutDisk(directory) {
  const tree = join(directory, 'checkout');
  cpSync(ROOT, tree, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    filter: (path) => !LEFT_OUT.has(basename(path)),
  });
  const disk = join(directory, 'checkout.img');
  const format = ['-q', '-t', 'ext4', '-O', '^has_journal', '-m', '0', '-d', tree, disk, '1G'];
  execFileSync('/usr/sbin/mke2fs', format, { stdio: ['ignore', 'ignore', 'inherit'] });
  rmSync(tree, { recursive: true });
  return disk;
}

/** A disk that brings a machine its command, and takes the report away. */
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
    // One instruction takes 2 ns of the machine's own time: however busy this one is, no deadline in there passes early.
    ...['-accel', 'tcg,thread=single', '-icount', 'shift=1,sleep=on', '-cpu', 'max', '-smp', '1'],
    ...['-m', String(MEMORY_MIB), '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...['-serial', 'stdio', '-kernel', join(kernel, 'vmlinuz')],
    // What the kernel does not know is a variable of init's.
    ...['-append', `console=ttyS0 root=/dev/nvme0n1 rw init=/init quiet loglevel=1 panic=-1 SECONDS_LEFT=${seconds}`],
    ...drives,
  ];
}

/** To its end, which it brings about itself. Answers how it ended. The console of the first is shown as it goes. */
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

/** What vitest said there; undefined where it did not come to that. */
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
// Not in CACHE: it goes when the run ends, and no other run may meet it.
const directory = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'paddock-vm-'));
try {
  const checkout = checkoutDisk(directory);
  const reports = await Promise.all(
    machines.map(async (tests, index) => {
      const exchange = exchangeDisk(directory, index, tests);
      const disks = [
        // What is written to it is forgotten.
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
  // Without all of them there is none: what could not be run has not passed.
  const whole = reports.every(Boolean);
  if (values.report && whole) writeFileSync(values.report, JSON.stringify(together(reports)));
  process.exitCode = whole && reports.every(({ success }) => success) ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
