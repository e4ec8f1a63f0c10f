import { isRecord } from '../../lib/json.ts';
import { splitSqlParts } from '../../sql/sql-parts.ts';

/** The keys of arguments that hold names of the project, or SQL over them. */
const nameKeys = new Set(
  (
    'metrics dimensions where having segments order_by share_of over_rows top qualify field op on ' +
    'name expr dir compare_to timezone week_start connection connections saved kinds sql run uri'
  ).split(' '),
);

/** The keys of arguments whose numbers say how much, not what. */
const sizeKeys = new Set(['limit', 'max_tokens', 'wait']);

const longestText = 2000;

/**
 * The arguments of a call without values: names stay, `?` stands for each literal of SQL, and the
 * length for every other text.
 */
export function redactArguments(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redactArguments(item, key));
  if (isRecord(value))
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, 100)
        .map(([name, inner]) => [redactName(name, key), redactArguments(inner, name)]),
    );
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return sizeKeys.has(key) ? value : '?';
  if (typeof value !== 'string') return undefined;
  return nameKeys.has(key) ? redactSql(value.slice(0, longestText)) : lengthOf(value);
}

/** The names of parameters are the client's own; those of unknown keys may be anything. */
function redactName(name: string, parent: string): string {
  return /^[a-z_]{1,40}$/.test(name) && parent !== 'parameters' ? name : lengthOf(name);
}

function lengthOf(text: string): string {
  return `<${text.length} characters>`;
}

function redactSql(sql: string): string {
  const parts = [...splitSqlParts(sql, { hasDollarQuotes: true })];
  // A backslash may hide the end of a text: what follows could be part of it.
  const unclear = parts.findIndex(({ kind, text }) => kind === 'quoted' && text.includes('\\'));
  return parts
    .slice(0, unclear === -1 ? undefined : unclear + 1)
    .map(({ kind, text }) => {
      if (kind === 'comment') return ' ';
      if (kind === 'quoted') return '?';
      return text.replaceAll(/\$\d+|\b(?:0x[0-9a-f]+|\d[\w.]*)/gi, '?');
    })
    .join('')
    .replace(/['"`$][^]*$/, '?');
}
