/**
 * Reads vitest's JSON reports and prints the total as `N passed, N failed`. Exit code 1 if a test failed, was skipped or
 * is a todo, or if a report contains no test: a test that cannot run on this machine counts as a failure. If REPORT.again
 * exists (scripts/run-again.mjs), a test that failed in REPORT and passed there counts as passed, and is listed. Each
 * failure is listed with the first line of its message.
 * usage: test-summary.mjs REPORT...
 */
import { existsSync, readFileSync } from 'node:fs';

const AGAIN = '.again';

function report(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
  }
}

const key = (file, test) => `${file.name}\n${test.fullName}`;
const testsOf = ({ testResults }) =>
  testResults.flatMap((file) =>
    file.assertionResults.map((test) => ({ file: file.name, key: key(file, test), ...test })),
  );
const firstLine = ({ failureMessages = [] }) => (failureMessages[0] ?? '').split('\n')[0];
const say = (line) => process.stdout.write(`${line}\n`);

const paths = process.argv.slice(2).filter((path) => !path.endsWith(AGAIN));
const reports = paths.map((path) => {
  const first = report(path);
  const second = existsSync(path + AGAIN) ? report(path + AGAIN) : { testResults: [] };
  const passedNow = new Set(testsOf(second).flatMap((test) => (test.status === 'passed' ? [test.key] : [])));
  const failed = testsOf(first).filter((test) => test.status === 'failed');
  const notRun = testsOf(first).filter(({ status }) => status !== 'passed' && status !== 'failed');
  // A file that could not be loaded, or failed outside of its tests, has no failed test to count.
  const loadedNow = new Set(second.testResults.filter(({ status }) => status === 'passed').map(({ name }) => name));
  const broken = first.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  );
  return {
    path,
    passed: first.numPassedTests,
    failed: first.numFailedTests,
    pending: first.numPendingTests + first.numTodoTests,
    // In a file that failed before its tests, all of them are not run.
    runLater: notRun.filter((test) => passedNow.has(test.key)),
    notRun: notRun.filter((test) => !passedNow.has(test.key)),
    recovered: failed.filter((test) => passedNow.has(test.key)),
    failures: failed.filter((test) => !passedNow.has(test.key)),
    brokenFiles: broken.filter(({ name }) => !loadedNow.has(name)),
  };
});
const all = (list) => reports.flatMap(list);
const sum = (count) => reports.reduce((total, each) => total + count(each), 0);
const empty = reports.filter(({ passed, failed }) => passed + failed === 0);
const notRun = all(({ notRun }) => notRun);
const runLater = all(({ runLater }) => runLater);
const recovered = all(({ recovered }) => recovered);
const brokenFiles = all(({ brokenFiles }) => brokenFiles);

for (const test of notRun) say(`not run (${test.status}): ${test.file}: ${test.fullName}`);
for (const { path } of empty) say(`no test was run: ${path}`);
for (const file of new Set(runLater.map(({ file }) => file))) say(`passed on the second run: ${file}`);
for (const test of recovered) say(`passed on the second run: ${test.file}: ${test.fullName}: ${firstLine(test)}`);
for (const test of all(({ failures }) => failures)) say(`failed: ${test.file}: ${test.fullName}: ${firstLine(test)}`);
for (const file of brokenFiles) say(`failed: ${file.name}: ${(file.message ?? '').split('\n')[0]}`);

const passed = sum((each) => each.passed) + recovered.length + runLater.length;
const failed = sum((each) => each.failed) - recovered.length + brokenFiles.length;
const pending = sum((each) => each.pending) - runLater.length + notRun.length;
say(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || pending > 0 || passed === 0 || empty.length > 0 ? 1 : 0);
