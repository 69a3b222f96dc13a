/**
 * Reads vitest's JSON reports and prints the test files that took longest, with their seconds: what to look at when the checks
 * take too long. A report that cannot be read is for test-summary.mjs.
 * usage: slowest-tests.mjs REPORT...
 */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const SHOWN = 20;

function filesOf(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return testResults.map(({ name, startTime, endTime }) => ({ name, ms: endTime - startTime }));
  } catch {
    return [];
  }
}

const files = process.argv.slice(2).flatMap(filesOf);
for (const { name, ms } of files.sort((a, b) => b.ms - a.ms).slice(0, SHOWN)) {
  process.stdout.write(`${(ms / 1000).toFixed(1).padStart(7)} s  ${relative('.', name)}\n`);
}
