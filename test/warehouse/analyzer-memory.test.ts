import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../../src/sql');
/**
 * Prints the most that the process ever had in memory, in MB. V8 has time to optimize what runs
 * often.
 */
const program = `
  import { setTimeout as wait } from 'node:timers/promises';
  import { parseSql, withAnalyzer } from '${src}/analyzer.ts';
  import { postgres } from '${src}/dialects/postgres.ts';
  const sql = 'SELECT a.n, sum(b.x) FROM t AS a JOIN u AS b ON a.id = b.id GROUP BY 1';
  for (let round = 0; round < 200; round += 1) {
    await withAnalyzer(() => parseSql(sql, postgres));
    await wait(5);
  }
  console.log(process.resourceUsage().maxRSS / 1024);`;

test('the SQL analyzer needs less than 250 MB, also when it is used often', () => {
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', program];
  const peak = Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  expect(peak).toBeGreaterThan(50);
  expect(peak).toBeLessThan(250);
});
