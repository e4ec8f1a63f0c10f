// Prints how many tests the JSON reports in a folder count, in one line that CI systems read.
// Before it, the tests that passed only when they were tried again.
// STATUS is the exit code of all checks: one that failed without a failed test counts as one.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = process.argv[2] ?? '.';
const reports = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
const sum = (key) => reports.reduce((total, report) => total + (report[key] ?? 0), 0);

for (const { name, assertionResults } of reports.flatMap((report) => report.testResults ?? [])) {
  for (const { status, fullName, failureMessages } of assertionResults) {
    if (status !== 'passed' || failureMessages.length === 0) continue;
    const [reason] = failureMessages[0].split('\n');
    console.log(`Passed at the second try: ${relative('.', name)} > ${fullName}: ${reason}`);
  }
}

const passed = sum('numPassedTests');
const skipped = sum('numPendingTests') + sum('numTodoTests');
const failed = Math.max(sum('numFailedTests'), process.env.STATUS === '0' ? 0 : 1);
const skippedPart = skipped > 0 ? `, ${skipped} skipped` : '';
console.log(`${passed} passed, ${failed} failed${skippedPart}`);
