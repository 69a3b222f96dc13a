/**
 * Reads vitest's JSON report and ends the run with `N passed, N failed`. Exit code 1 when anything failed, was skipped
 * or left to do, or when nothing ran: a test that cannot run on this machine is a failure, not a gap.
 */
import { readFileSync } from 'node:fs';

function report(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
  }
}

const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = report(process.argv[2]);
const notRun = testResults
  .flatMap((file) => file.assertionResults.map((test) => ({ file: file.name, ...test })))
  .filter((test) => test.status !== 'passed' && test.status !== 'failed');

for (const test of notRun) process.stdout.write(`not run (${test.status}): ${test.file}: ${test.fullName}\n`);
// A file that could not be loaded fails without having a test to count.
const brokenFiles = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
const failed = numFailedTests + brokenFiles;
process.stdout.write(`${numPassedTests} passed, ${failed} failed\n`);
process.exit(failed > 0 || numPendingTests + numTodoTests + notRun.length > 0 || numPassedTests === 0 ? 1 : 0);
