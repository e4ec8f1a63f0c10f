import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mutants } from '../../scripts/mutate/mutants.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import type { DriverDescription } from '../../src/warehouse/driver-description.ts';
import { drivers } from '../../src/warehouse/config.ts';
import { everyEngine } from '../support/warehouses.ts';

const root = join(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/warehouses.md'), 'utf8');
const readme = readFileSync(join(root, 'README.md'), 'utf8').toLowerCase().replaceAll(' ', '');
const descriptions: readonly DriverDescription[] = drivers;
const commandTests = globSync('test/{e2e,cli}/*.test.ts', { cwd: root }).map((file) =>
  readFileSync(join(root, file), 'utf8'),
);

/** What a driver has besides its code, as CONTRIBUTING says in "Add a warehouse". */
describe.each(descriptions)('the driver $name', ({ name, isUntried }) => {
  test('takes part in the contract suite', () => {
    expect(everyEngine, 'add it to `everyEngine` in test/support/warehouses.ts').toContain(name);
  });

  test('has a dialect of its name', () => {
    // Projects, exports and sources find the dialect of a connection by its driver.
    expect(findDialect(name).name, 'write it in src/sql/dialects').toBe(name);
  });

  test('has mutants of its walls', () => {
    const own = mutants.filter(({ file }) => file.startsWith(`warehouse/drivers/${name}/`));
    const hint = `write them in scripts/mutate/${name}.ts and list them in mutants.ts`;
    expect(own.length, hint).toBeGreaterThan(0);
  });

  test('is in the documentation', () => {
    const hasSection = new RegExp(`\\bdriver: ${name}\\b`).test(guide);
    expect(hasSection, 'write its section, with an example, in docs/warehouses.md').toBe(true);
    expect(readme.includes(name), 'name it in the table of README.md').toBe(true);
  });

  test.runIf(isUntried)('can be tried on a live account, and is whole on a server of ours', () => {
    const recipe = join(root, 'scripts/live', `${name}.md`);
    expect(existsSync(recipe), `write scripts/live/${name}.md`).toBe(true);
    const withDriver = new RegExp(`--driver(?:',)?\\s+'?${name}\\b`);
    const isRun = commandTests.some((text) => withDriver.test(text));
    const hint = `run the command line over its protocol server in test/e2e/${name}.test.ts`;
    expect(isRun, hint).toBe(true);
  });
});
