import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedDatabase } from '../generated-database.ts';
import { readSchemaText } from '../schema-text.ts';
import { buildDatabase, integer, type HandWrittenSchema } from '../schema-builder.ts';

/** What a family of databases is used for. */
export type PatternUse = keyof typeof patternFamilies;

/**
 * The families of databases, each a pattern of how companies keep their data. A family is used for
 * one thing only, so what is measured at the end are patterns that nothing was tuned on:
 *
 * - `training`: rules are developed on them, with every miss in sight
 * - `calibration`: they turn the model's score into a probability
 * - `final`: they are only scored; nobody reads what was missed there before a rule is chosen
 *
 * - `fresh`: like `final`, and written later, for rules that came after it
 * - `aside`: like `fresh`, and later again: software, textbooks and registers as they are
 * - `read` and `blind`: public software, exports and samples, with rows as they are in life: ids
 *   with gaps, references to deleted rows, counters, constants. The names were sorted by their
 *   hashes: the misses of the first half may be read, the second half is only scored
 * - `late`: like `blind`, and written after the last change of the rules
 *
 * The first three were fixed before anything was tuned. A new pattern gets a family of its own.
 */
export const patternFamilies = {
  training: [
    'apps',
    'bridges',
    'codes',
    'composites',
    'couples',
    'german',
    'globalids',
    'hierarchies',
    'history',
    'inheritance',
    'kinds',
    'littles',
    'minis',
    'named',
    'numbers',
    'offices',
    'portals',
    'quizzes',
    'roles',
    'samples',
    'stars',
    'tiny',
    'tongues',
    'tools',
  ],
  calibration: ['health', 'leagues', 'legacy', 'romance'],
  final: ['billing', 'erp', 'layers', 'logistics', 'naturals', 'small', 'subtypes'],
  fresh: ['companies', 'exhibits'],
  aside: ['bureaus', 'lessons', 'software'],
  read: ['boards', 'checkouts', 'holdings'],
  blind: ['exports', 'registers', 'servers'],
  late: ['classics', 'feeds', 'platforms', 'trades'],
} as const;

interface PatternDatabase {
  readonly family: string;
  /** The family and the shape: `stars/retail`. */
  readonly name: string;
  readonly database: GeneratedDatabase;
}

/** Their tables have numbers of their own that fit keys by chance. */
const asWritten: readonly PatternUse[] = ['read', 'blind', 'late'];

/** The databases of all families of one use. A line `=== name` begins a database of a family. */
export function patternDatabases(use: PatternUse): PatternDatabase[] {
  return patternFamilies[use].flatMap((family) => {
    const text = readFileSync(join(import.meta.dirname, use, `${family}.txt`), 'utf8');
    const [, ...shapes] = text.split(/^=== /mu);
    return shapes.map((shape) => {
      const end = shape.indexOf('\n');
      const name = `${family}/${shape.slice(0, end).trim()}`;
      const written = readSchemaText(shape.slice(end));
      const schema = asWritten.includes(use) ? written : withSmallNumbers(written);
      return { family, name, database: buildDatabase(name, schema) };
    });
  });
}

/** Names of numbers that count from 1 and refer to nothing. */
const smallNumbers = ['tier', 'wave', 'bay', 'phase', 'lot', 'band', 'gate', 'depth', 'shelf'];

/** As in life, each table has numbers that fit the keys of other tables by chance. */
function withSmallNumbers(schema: HandWrittenSchema): HandWrittenSchema {
  const tables = Object.entries(schema).map(([name, table], index) => {
    if (table.source !== undefined || table.rows < 20) return [name, table] as const;
    const added = [0, 1].flatMap((which) => {
      const column = smallNumbers[(index * 2 + which) % smallNumbers.length] ?? '';
      const most = 6 + ((index * 17 + which * 31) % 70);
      const isTaken = Object.keys(table.columns).some((own) => own.toLowerCase() === column);
      return isTaken ? [] : [[column, integer(1, most)] as const];
    });
    const columns = { ...table.columns, ...Object.fromEntries(added) };
    return [name, { ...table, columns }] as const;
  });
  return Object.fromEntries(tables);
}
