import { type DatabaseTruth, type GeneratedDatabase, seededRandom } from './generated-database.ts';

/** Renames all tables and columns to names without meaning: `t3.c5`. */
export function obscured({ tables, truth }: GeneratedDatabase): GeneratedDatabase {
  const tableNames = new Map(tables.map(({ name }, index) => [name, `t${index + 1}`]));
  const columnNames = new Map(
    tables.flatMap(({ name, columns }) =>
      columns.map((column, index) => [`${name}.${column.name}`, `c${index + 1}`]),
    ),
  );
  const table = (name: string): string => tableNames.get(name) ?? name;
  const within = (name: string, columns: readonly string[]): string[] =>
    columns.map((column) => columnNames.get(`${name}.${column}`) ?? column);
  const renamed = (links: DatabaseTruth['links'] = []): DatabaseTruth['links'] =>
    links.map(({ from, from_columns: own, to, to_columns: others }) => ({
      from: table(from),
      from_columns: within(from, own),
      to: table(to),
      to_columns: within(to, others),
    }));
  return {
    tables: tables.map(({ name, columns }) => ({
      name: table(name),
      columns: columns.map((column) => ({
        ...column,
        name: within(name, [column.name])[0] ?? column.name,
      })),
    })),
    truth: {
      primary_keys: Object.fromEntries(
        Object.entries(truth.primary_keys).map(([name, key]) => [table(name), within(name, key)]),
      ),
      links: renamed(truth.links),
      open: renamed(truth.open),
    },
  };
}

/**
 * A query log that joins three quarters of the links. A poor log joins only columns that are no
 * links.
 */
export function queryLog({ tables, truth }: GeneratedDatabase, quality: 'good' | 'poor'): string {
  const random = seededRandom(tables.length * 7919);
  const int = (below: number): number => Math.floor(random() * below);
  const quoted = (name: string): string => `"${name}"`;
  const on = (own: readonly string[], others: readonly string[]): string =>
    own.map((name, index) => `a.${quoted(name)} = b.${quoted(others[index] ?? '')}`).join(' AND ');
  const joined = (link: DatabaseTruth['links'][number], index: number): string =>
    `SELECT count(*) AS n${index} FROM ${quoted(link.from)} AS a JOIN ${quoted(link.to)} AS b ON ${on(link.from_columns, link.to_columns)} WHERE a.${quoted(link.from_columns[0] ?? '')} > ${int(90)}`;
  const good = truth.links
    .filter(() => random() < 0.75)
    .flatMap((link) => Array.from({ length: 1 + int(9) }, (_, index) => joined(link, index)));
  const wrong = tables.flatMap(({ name, columns }) => {
    const other = tables[int(tables.length)];
    const pick = (from: readonly { readonly name: string }[]): string =>
      from[int(from.length)]?.name ?? '';
    const link = {
      from: name,
      from_columns: [pick(columns)],
      to: other?.name ?? name,
      to_columns: [pick(other?.columns ?? columns)],
    };
    return [joined(link, 0), joined({ ...link, to: name, to_columns: [pick(columns)] }, 1)];
  });
  return [...(quality === 'good' ? good : []), ...wrong]
    .map((statement) => `${statement};\n`)
    .join('');
}
