import { identifierName, parseSql, walkSql, withAnalyzer } from '../../../src/sql/analyzer.ts';
import { bigquery } from '../../../src/sql/dialects/bigquery.ts';

export interface TableName {
  readonly projectId: string;
  readonly datasetId: string;
  readonly tableId: string;
}

export interface StatementKind {
  readonly statementType: string;
  readonly tables: readonly TableName[];
}

/** What BigQuery calls statements, by the words with which they begin. */
const typesByWords: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/^EXPORT DATA/i, 'EXPORT_DATA'],
  [/^LOAD DATA/i, 'LOAD_DATA'],
  [/^CREATE (?:OR REPLACE )?(?:TEMP(?:ORARY)? )?(?:AGGREGATE )?FUNCTION/i, 'CREATE_FUNCTION'],
  [/^CREATE (?:OR REPLACE )?PROCEDURE/i, 'CREATE_PROCEDURE'],
  [/^CREATE (?:OR REPLACE )?(?:REMOTE )?MODEL/i, 'CREATE_MODEL'],
  [/^CREATE (?:OR REPLACE )?(?:MATERIALIZED )?VIEW/i, 'CREATE_VIEW'],
  [/^CREATE (?:SCHEMA)/i, 'CREATE_SCHEMA'],
  [/^CREATE (?:OR REPLACE )?(?:\w+ )?TABLE[^]* AS\b/i, 'CREATE_TABLE_AS_SELECT'],
  [/^CREATE (?:OR REPLACE )?(?:\w+ )?TABLE/i, 'CREATE_TABLE'],
  [/^DROP (?:\w+ )?(\w+)/i, 'DROP_TABLE'],
  [/^ALTER/i, 'ALTER_TABLE'],
  [/^TRUNCATE/i, 'TRUNCATE_TABLE'],
  [/^(?:INSERT|UPDATE|DELETE|MERGE|ASSERT|CALL|GRANT|REVOKE)/i, ''],
  [/^(?:BEGIN|DECLARE|SET|EXECUTE IMMEDIATE|IF|LOOP|WHILE|COMMIT|ROLLBACK)/i, 'SCRIPT'],
];

/** The type that BigQuery's own parser gives a statement, and the tables that it names. */
export async function classify(
  sql: string,
  defaults: { readonly project: string; readonly dataset: string },
): Promise<StatementKind> {
  const text = withoutComments(sql);
  const words = typesByWords.find(([pattern]) => pattern.test(text));
  const first = /^\w+/.exec(text)?.[0].toUpperCase() ?? '';
  const isScript = /;\s*\S/.test(withoutTexts(text));
  if (isScript) return { statementType: 'SCRIPT', tables: [] };
  if (words !== undefined) return { statementType: words[1] || first, tables: [] };
  return { statementType: 'SELECT', tables: await namedTables(sql, defaults) };
}

function withoutComments(sql: string): string {
  return sql.replaceAll(/--[^\n]*|#[^\n]*|\/\*[^]*?\*\//g, ' ').trim();
}

function withoutTexts(sql: string): string {
  return sql.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g, "''");
}

async function namedTables(
  sql: string,
  { project, dataset }: { readonly project: string; readonly dataset: string },
): Promise<readonly TableName[]> {
  const nodes = await withAnalyzer(() =>
    parseSql(sql, bigquery).flatMap(({ kind, body }) => [...walkSql({ [kind]: body })]),
  ).catch(() => []);
  const ctes = new Set(
    nodes.flatMap(({ body }) => {
      const clause = body['with'] as { ctes?: { alias?: unknown }[] } | undefined;
      return (clause?.ctes ?? []).map(({ alias }) => identifierName(alias)?.toLowerCase());
    }),
  );
  const found = nodes.flatMap((node): TableName[] => {
    if (node.kind !== 'table') return [];
    const parts = ['catalog', 'schema', 'name']
      .flatMap((key) => identifierName(node.body[key]) ?? [])
      .join('.')
      .split('.');
    if (parts.length === 1 && ctes.has(parts[0]?.toLowerCase())) return [];
    const [tableId = '', datasetId = dataset, ...owner] = parts.toReversed();
    return [{ projectId: owner.toReversed().join('.') || project, datasetId, tableId }];
  });
  const unique = new Map(found.map((name) => [JSON.stringify(name), name]));
  return [...unique.values()];
}

/** What DuckDB calls names without a project; days under one name are views there. */
export function withoutProjects(sql: string, projects: readonly string[]): string {
  const names = projects.map((name) => RegExp.escape(name)).join('|');
  return (
    sql
      // A function that gives NULL in place of an error: there is no such form in DuckDB.
      .replaceAll(/\bSAFE\.(?=\w+\()/gi, '')
      .replaceAll(new RegExp(`\`(?:${names})\`\\.`, 'g'), '')
      .replaceAll(new RegExp(`\`(?:${names})\\.(\\w+)\\.([^\`]+)\``, 'g'), '`$1`.`$2`')
      .replaceAll(/(?<=\b(?:FROM|JOIN)\s+)`(\w+)\.([\w*-]+)`/gi, '`$1`.`$2`')
  );
}

/** The views in DuckDB that stand for the catalogs of a dataset. */
export function withMetaViews(sql: string): string {
  return sql
    .replaceAll(/`(\w+)`\.INFORMATION_SCHEMA\.(\w+)/g, 'bq_meta.`$1.$2`')
    .replaceAll(/`(\w+)`\.__TABLES__/g, 'bq_meta.`$1.__TABLES__`');
}

/** Where the analyzer's translation errs. */
export function mendTranslation(sql: string): string {
  return sql
    .replaceAll(
      /ARRAY_AGG\(DISTINCT (.+?) ORDER BY .+? NULLS FIRST LIMIT (\d+)\) FILTER\(WHERE (.+?) IS NOT NULL\)/g,
      '(LIST_SORT(LIST(DISTINCT $1) FILTER(WHERE $3 IS NOT NULL)))[1:$2]',
    )
    .replaceAll(/'WEEK\(MONDAY\)'/g, "'WEEK'")
    .replaceAll(/EXTRACT\(ISOWEEK/g, 'EXTRACT(WEEK')
    .replaceAll(/EXTRACT\(DAYOFWEEK FROM/g, 'EXTRACT(DOW FROM')
    .replaceAll(
      /DATE_TRUNC\(([^()]*), (CAST\(.+? AS DATE\))\)/g,
      'CAST(DATE_TRUNC($1, $2) AS DATE)',
    );
}
