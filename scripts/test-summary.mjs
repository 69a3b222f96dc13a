/**
 * Reads vitest's JSON reports and ends the run with `N passed, N failed` of them all. Exit code 1 when anything failed,
 * was skipped or left to do, or when nothing ran for one of them: a test that cannot run on this machine is a failure,
 * not a gap.
 * usage: test-summary.mjs REPORT...
 */
import { readFileSync } from 'node:fs';

function report(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
  }
}

const reports = process.argv.slice(2).map((path) => ({ path, ...report(path) }));
const sum = (count) => reports.reduce((total, each) => total + count(each), 0);
const results = reports.flatMap(({ testResults }) => testResults);
const notRun = results
  .flatMap((file) => file.assertionResults.map((test) => ({ file: file.name, ...test })))
  .filter((test) => test.status !== 'passed' && test.status !== 'failed');
const empty = reports.filter(({ numPassedTests, numFailedTests }) => numPassedTests + numFailedTests === 0);

for (const test of notRun) process.stdout.write(`not run (${test.status}): ${test.file}: ${test.fullName}\n`);
for (const { path } of empty) process.stdout.write(`no test was run: ${path}\n`);
// A file that could not be loaded fails without having a test to count.
const brokenFiles = results.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
const passed = sum(({ numPassedTests }) => numPassedTests);
const failed = sum(({ numFailedTests }) => numFailedTests) + brokenFiles;
const pending = sum(({ numPendingTests, numTodoTests }) => numPendingTests + numTodoTests) + notRun.length;
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exit(failed > 0 || pending > 0 || passed === 0 || empty.length > 0 ? 1 : 0);
