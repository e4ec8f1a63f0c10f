import { expect, test } from 'vitest';
import { readLookml } from '../../src/semantic/formats/lookml/read.ts';
import { withAnalyzer } from '../../src/sql/analyzer.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';

const view = (members: string) => `view: v {\n  sql_table_name: main.t ;;\n${members}\n}\n`;
const dimension = (sql: string) => view(`  dimension: d { sql: ${sql} ;; }`);
/** In milliseconds; below it, a measurement is noise. */
const shortest = 100;

/** The CPU time in milliseconds, and what is said about each fault. */
async function read(text: string): Promise<{ readonly ms: number; readonly faults: string[] }> {
  return withAnalyzer(() => {
    const start = process.cpuUsage();
    const { misfits } = readLookml([{ file: 'a.view.lkml', text }], { dialect: duckdb });
    const { user, system } = process.cpuUsage(start);
    return { ms: (user + system) / 1000, faults: misfits.map(({ message }) => message) };
  });
}

const times = (count: number, member: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => member(index)).join('\n');

/** Each with what is said about it; nothing where it is read. */
const hostile: Readonly<Record<string, readonly [text: string, fault: RegExp | undefined]>> = {
  'parentheses around a value': [
    dimension(`${'('.repeat(25_000)}1${')'.repeat(25_000)}`),
    undefined,
  ],
  'open references': [dimension('${'.repeat(25_000)), /ktx cannot read/],
  'nested conditions of Liquid': [dimension('{% condition a %}'.repeat(25_000)), /too deep/],
  'nested ifs of Liquid': [dimension('{% if a %}'.repeat(25_000)), /Liquid/],
  'closed ifs of Liquid': [
    dimension(`${'{% if a %}'.repeat(12_000)} x ${'{% endif %}'.repeat(12_000)}`),
    /too deep/,
  ],
  refinements: [
    view('') + times(4000, (index) => `view: +v { dimension: a${index} { sql: 1 ;; } }`),
    /v is refined more than 200 times/,
  ],
  'constants that double': [
    `constant: c { value: "${'x'.repeat(100_000)}" }\n${dimension('@{c}'.repeat(20_000))}`,
    /the constant @\{c\} has no value/,
  ],
  'views in a circle': ['view: a { extends: [b] }\nview: b { extends: [a] }', /extends itself/],
  'names of objects': [view('dimension: __proto__ { sql: ${TABLE}.a ;; }'), undefined],
};

test('LookML is read in linear time, and what is too much is named', async () => {
  const benign = view(times(1000, (index) => `  dimension: a${index} { sql: \${TABLE}.a + 1 ;; }`));
  await read(benign);
  const usual = Math.max(shortest, (await read(benign)).ms);
  const slow: string[] = [];
  for (const [name, [text, fault]] of Object.entries(hostile)) {
    const { ms, faults } = await read(text);
    if (ms / usual >= 15) slow.push(`${name}: ${Math.round(ms)} of ${Math.round(usual)} ms`);
    if (fault === undefined) expect(faults, name).toEqual([]);
    else expect(faults.join('\n'), name).toMatch(fault);
  }
  expect(slow).toEqual([]);
});
