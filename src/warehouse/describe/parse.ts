import { type Dialect, foldedName } from '../../sql/dialect.ts';
import type { UnresolvedTable } from '../gate/policy.ts';

/**
 * A statement that asks for the structure of the database. The catalog answers it; it is not sent.
 */
export type CatalogStatement =
  | { readonly kind: 'tables' | 'schemas'; readonly like: string | undefined }
  | {
      readonly kind: 'columns' | 'keys' | 'create';
      readonly table: UnresolvedTable;
      /** Only columns with such names. */
      readonly like: string | undefined;
    };

const part = '(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[\\p{L}_][\\p{L}\\p{N}_$]*)';
const name = `(?<name>${part}(?:\\.${part}){0,2})`;
const like = "(?:\\s+LIKE\\s+'(?<like>(?:[^'\\\\]|'')*)')?";
const inSchema = `(?:\\s+(?:FROM|IN)\\s+(?<schema>${part}))?`;

const forms = (
  [
    ['tables', `SHOW\\s+(?:FULL\\s+|ALL\\s+)?TABLES${like}`],
    ['tables', 'PRAGMA\\s+(?:show_tables|table_list)'],
    ['schemas', `SHOW\\s+(?:DATABASES|SCHEMAS)${like}`],
    [
      'columns',
      `SHOW\\s+(?:FULL\\s+)?(?:COLUMNS|FIELDS)\\s+(?:FROM|IN)\\s+${name}${inSchema}${like}`,
    ],
    ['columns', `(?:DESCRIBE|DESC)\\s+(?:TABLE\\s+)?${name}`],
    ['columns', `PRAGMA\\s+table_x?info\\s*\\(\\s*(?:'(?<text>[^']+)'|${name})\\s*\\)`],
    ['keys', `SHOW\\s+(?:INDEX|INDEXES|KEYS)\\s+(?:FROM|IN)\\s+${name}${inSchema}`],
    ['create', `SHOW\\s+CREATE\\s+(?:TABLE|VIEW)\\s+${name}`],
  ] as const
).map(([kind, form]) => [kind, new RegExp(`^\\s*${form}\\s*;?\\s*$`, 'iu')] as const);

/** A longer statement is none of these. */
const maxLength = 1000;
/** How they all begin: compiling the forms takes 20 ms, which most statements need not wait for. */
const beginning = /^\s*(?:SHOW|PRAGMA|DESC)/i;

/**
 * `SHOW TABLES`, `DESCRIBE t` and their like, in the spellings of all engines; undefined for any
 * other text. `ignoresCase`: the engine compares names without case. Elsewhere a name without
 * quotes is folded.
 */
export function parseCatalogStatement(
  sql: string,
  dialect: Pick<Dialect, 'ignoresCase' | 'foldsUp'>,
): CatalogStatement | undefined {
  if (sql.length > maxLength || !beginning.test(sql)) return undefined;
  for (const [kind, form] of forms) {
    const groups = form.exec(sql)?.groups;
    if (groups === undefined) continue;
    const pattern = groups['like']?.replaceAll("''", "'");
    if (kind === 'tables' || kind === 'schemas') return { kind, like: pattern };
    const fullName = [groups['schema'], groups['name']].filter((text) => text !== undefined);
    const written = groups['text'] === undefined ? fullName.join('.') : undefined;
    const names = written === undefined ? [groups['text'] ?? ''] : namesIn(written, dialect);
    const [table = '', schema, catalog] = names.toReversed();
    return { kind, table: { table, schema, catalog }, like: pattern };
  }
  return undefined;
}

function namesIn(dotted: string, dialect: Pick<Dialect, 'ignoresCase' | 'foldsUp'>): string[] {
  return Array.from(dotted.matchAll(new RegExp(part, 'gu')), ([text]) => {
    const quote = text[0] ?? '';
    if (quote === '"' || quote === '`') return text.slice(1, -1).replaceAll(quote + quote, quote);
    return dialect.ignoresCase ? text : foldedName(text, dialect);
  });
}
