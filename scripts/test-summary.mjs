/**
 * Reads vitest's JSON reports and prints the total as `N passed, N failed`. Exit code 1 if a test failed, was skipped or
 * is a todo, or if a report contains no test: a test that cannot run on this machine counts as a failure. Each failure is
 * listed with the first line of its message.
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

const firstLine = (message) => (message ?? '').split('\n')[0];
const say = (line) => process.stdout.write(`${line}\n`);

let [passed, failed, pending, empty] = [0, 0, 0, 0];
for (const path of process.argv.slice(2)) {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = report(path);
  passed += numPassedTests;
  failed += numFailedTests;
  pending += numPendingTests + numTodoTests;
  if (numPassedTests + numFailedTests === 0) {
    empty++;
    say(`no test was run: ${path}`);
  }
  for (const { name, status, message, assertionResults } of testResults) {
    const failures = assertionResults.filter((test) => test.status === 'failed');
    for (const test of assertionResults) {
      if (test.status === 'failed') say(`failed: ${name}: ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
      else if (test.status !== 'passed') say(`not run (${test.status}): ${name}: ${test.fullName}`);
    }
    // It could not be loaded, or failed outside of its tests: it has no failed test to count.
    if (status !== 'failed' || failures.length > 0) continue;
    failed++;
    say(`failed: ${name}: ${firstLine(message)}`);
  }
}
say(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || pending > 0 || passed === 0 || empty > 0 ? 1 : 0);
