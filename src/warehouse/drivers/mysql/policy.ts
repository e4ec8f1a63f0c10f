import type { Dialect } from '../../../sql/dialect.ts';
import { analyzedFacts } from '../../analyzed-statement.ts';
import { type GatePolicy, sameNames, type WrittenTable } from '../../driver.ts';
import { mysqlFunctions } from './functions.ts';
import { plainText } from './plain-text.ts';

const roots = ['select', 'union', 'intersect', 'except', 'values', 'subquery'];
const explain = /^\s*EXPLAIN\b(?:\s+(?:EXTENDED|PARTITIONS|FORMAT\s*=\s*\w+))?(?=\s*[(\w])/i;

/**
 * The general analyzer, over a text in which nothing is left that it reads otherwise than the server. Behind it stand the
 * read-only transaction and the rights of the login. A stored function may be called in place of one that this server lacks.
 */
export function mysqlPolicy(dialect: Dialect, ownFunctions: readonly string[]): GatePolicy {
  return {
    functions: mysqlFunctions.difference(new Set(ownFunctions)),
    inspect: async (sql) => {
      const text = plainText(sql);
      const query = text.replace(explain, (words) => words.replaceAll(/\S/g, ' '));
      const facts = await analyzedFacts(query, { dialect, roots, alwaysRecursive: false });
      const called = ownFunctions.filter((name) => isCalled(name, text));
      return {
        functions: [...facts.functions, ...called],
        tables: facts.tables.filter((table) => !isDual(table)),
      };
    },
    means: sameNames(dialect),
  };
}

/** A function that this server lacks has a kind of its own in the analyzer, and no name. */
function isCalled(name: string, text: string): boolean {
  const at = text.toLowerCase().indexOf(name);
  return (
    at >= 0 && new RegExp(`(?<![\\p{L}\\p{N}_$])${RegExp.escape(name)}\`?\\s*\\(`, 'iu').test(text)
  );
}

/** `FROM dual` reads no table. */
function isDual({ schema, table }: WrittenTable): boolean {
  return schema === undefined && table.toLowerCase() === 'dual';
}
