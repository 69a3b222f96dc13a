/**
 * Runs the test files with failures of one of vitest's JSON reports once more, one file at a time, and writes the report
 * of that to REPORT.again. The tests work on real mounts, daemons and deadlines of the product: on a virtual machine that
 * stalls for seconds one of thousands can fail for that alone. Two failures of one test in a row fail the run;
 * scripts/test-summary.mjs names each test that failed once. More than MAX_FILES are not taken for the machine's fault.
 * usage: run-again.mjs REPORT [VITEST ARGUMENT...]
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

const MAX_FILES = 10;

const [report, ...args] = process.argv.slice(2);
if (report === undefined || !existsSync(report)) {
  process.stdout.write(`there is no report to run again: ${report}\n`);
  process.exit(1);
}
const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
if (files.length === 0 || files.length > MAX_FILES) {
  process.stdout.write(`${files.length} files failed: none is run again\n`);
  process.exit(1);
}
process.stdout.write(`\n== once more, one at a time: ${files.join(' ')}\n`);
const vitest = resolve('node_modules/vitest/vitest.mjs');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}.again`];
const { status } = spawnSync(process.execPath, [vitest, 'run', '--maxWorkers=1', ...reporters, ...args, ...files], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
