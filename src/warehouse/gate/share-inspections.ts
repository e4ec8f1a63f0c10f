import { type SqlPart, splitSqlParts } from '../../sql/sql-parts.ts';
import type { GatePolicy, StatementFacts } from './policy.ts';

type Inspect = GatePolicy['inspect'];

/** A statement with other names in its place, and the name that each of them stands for. */
interface StatementShape {
  readonly sql: string;
  readonly names: ReadonlyMap<string, string>;
}

/** A scan sends a few shapes, each thousands of times. */
const mostShapes = 200;

/**
 * Inspects statements that differ in quoted names only once, for parsers to which a quoted name is
 * a name whatever it says: a scan sends the same statement for every table. What is cached are the
 * facts of a statement with made-up names; they are given the names of each statement. A shape that
 * does not pass is inspected as it was written, so that every refusal is that of the text.
 */
export function shareInspections(inspect: Inspect): Inspect {
  const shapes = new Map<string, Promise<StatementFacts | undefined> | undefined>();
  return async (sql) => {
    const shape = shapeOf(sql);
    if (shape === undefined) return inspect(sql);
    const known = shapes.get(shape.sql);
    if (known === undefined && !shapes.has(shape.sql)) {
      if (shapes.size >= mostShapes) shapes.clear();
      // Most statements come once.
      shapes.set(shape.sql, undefined);
      return inspect(sql);
    }
    const facts = known ?? inspect(shape.sql).catch(() => undefined);
    shapes.set(shape.sql, facts);
    const found = await facts;
    return found === undefined ? inspect(sql) : withNames(found, shape.names);
  };
}

const plainName = /^"[a-z_]\w*"$/i;
const madeUp = 'ktx_name_';

/**
 * Undefined if there is any doubt about which name means what: a comment, another kind of quotes, a
 * call of a quoted name, or a name that also stands there in another way.
 */
function shapeOf(sql: string): StatementShape | undefined {
  if (sql.toLowerCase().includes(madeUp)) return undefined;
  const parts = [...splitSqlParts(sql, { hasBrackets: true })];
  if (parts.some((part, index) => isDoubtful(part, parts[index + 1]))) return undefined;
  const madeUpNames = new Map<string, string>();
  const texts = parts.map((part) => {
    if (!isName(part)) return part.text;
    const name = part.text.slice(1, -1);
    const other = madeUpNames.get(name) ?? `${madeUp}${madeUpNames.size}`;
    madeUpNames.set(name, other);
    return `"${other}"`;
  });
  const folded = new Set([...madeUpNames.keys()].map((name) => name.toLowerCase()));
  const words = parts.flatMap((part) => (isName(part) ? [] : wordsOf(part)));
  const isClear = folded.size === madeUpNames.size && !words.some((word) => folded.has(word));
  const names = new Map([...madeUpNames].map(([name, other]) => [other, name]));
  return isClear && names.size > 0 ? { sql: texts.join(''), names } : undefined;
}

function isDoubtful(part: SqlPart, next: SqlPart | undefined): boolean {
  if (part.kind === 'code') return false;
  const isText = part.text.startsWith("'");
  if (part.kind === 'comment' || (!isName(part) && !isText)) return true;
  // Two quoted parts in a row are one, with a quote in it.
  return next?.kind === 'quoted' || (isName(part) && /^\s*\(/.test(next?.text ?? ''));
}

const isName = ({ kind, text }: SqlPart): boolean => kind === 'quoted' && plainName.test(text);

const wordsOf = ({ text }: SqlPart): readonly string[] => text.toLowerCase().match(/\w+/g) ?? [];

function withNames(
  { functions, tables }: StatementFacts,
  names: ReadonlyMap<string, string>,
): StatementFacts {
  const nameOf = (part: string | undefined) =>
    part === undefined ? part : (names.get(part) ?? part);
  return {
    functions: functions.map((name) => names.get(name)?.toLowerCase() ?? name),
    tables: tables.map(({ catalog, schema, table }) => ({
      catalog: nameOf(catalog),
      schema: nameOf(schema),
      table: names.get(table) ?? table,
    })),
  };
}
