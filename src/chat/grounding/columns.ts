import type { QueryEvidence } from '../../llm/port/tool-call.ts';

/** What the numbers of a column count, as far as its name, type and values tell. */
export type ColumnKind = 'share' | 'money' | 'count' | 'year' | 'id' | 'unknown';

const sharesName =
  /pct|per?cent|prozent|procent|pourcent|porcent|share|rate|ratio|growth|anteil|quote|margin|marge|%/i;
const moneyName =
  /revenue|sales|amount|price|cost|profit|spen[dt]|fee|tax|discount|balance|budget|income|turnover|value|mrr|arr|gmv|eur|usd|gbp|chf|net_result|earnings|actual|umsatz|preis|betrag|kosten|gewinn|ingreso|precio|ricav|prezzo|montant|prix|receita|omzet|cogs|burn|cash|receivable|payable|opex|capex|ltv|cac|expens|salar|wage|chiffre|vendas|ventas|sprzeda|erl[öo]s|varde|fatturat|facturac|売上|金額|销售额|金额|매출/i;
const yearName = /year|jahr|année|annee|año|anio|anno|ano\b|jaar/i;

const knownKinds = new WeakMap<QueryEvidence, readonly ColumnKind[]>();

export function columnKinds(query: QueryEvidence): readonly ColumnKind[] {
  const known = knownKinds.get(query);
  if (known !== undefined) return known;
  const kinds = query.columns.map((_, index) => kindOf(query, index));
  knownKinds.set(query, kinds);
  return kinds;
}

function kindOf({ columns, rows }: QueryEvidence, index: number): ColumnKind {
  const { name = '' } = columns[index] ?? {};
  if (sharesName.test(name)) return 'share';
  const values = rows.flatMap((row) => textOf(row[index]) ?? []);
  const areWhole = values.every((value) => /^-?\d+$/.test(value));
  const areYears = values.every((value) => /^(?:19|20|21)\d\d$/.test(value));
  if (areYears && values.length > 0 && yearName.test(name)) return 'year';
  if (idName.test(name) && areWhole && areIds(values)) return 'id';
  if (moneyName.test(name)) return 'money';
  // A whole number that no name explains may be an amount of anything.
  if (values.length === 0) return 'unknown';
  if (areWhole) return isCounted(name) ? 'count' : 'unknown';
  return values.every((value) => Math.abs(Number(value)) <= 1) ? 'share' : 'unknown';
}

const countedName =
  /count|number|anzahl|nombre|n[uú]mero|numero|^n$|^\w*_n$|orders?$|units?$|items?$|pieces?$|quantity|qty|users?|customers?|clients?|visit|session|people|head|days?|hours?|minutes?|_ms$|tickets?|bestell|st[uü]ck|kunden|pedidos|ordini|commandes|clientes/i;

/** True for a column whose name says that it counts things: no amount of money. */
export function isCounted(name: string): boolean {
  return countedName.test(name);
}

const idName = /(?:^|[_\s])(?:id|nr|no|number|key)$|[a-z]I[dD]$/i;

/** Small ids would be found in any text. */
function areIds(values: readonly string[]): boolean {
  return (
    values.length > 0 &&
    new Set(values).size === values.length &&
    values.every((value) => /^\d{4,}$/.test(value))
  );
}

/** True for numbers that name a row: nobody adds them up. */
export function isLabel(kind: ColumnKind | undefined): boolean {
  return kind === 'year' || kind === 'id';
}

function textOf(cell: unknown): string | undefined {
  if (typeof cell === 'string') return cell;
  return typeof cell === 'number' || typeof cell === 'bigint' ? String(cell) : undefined;
}

/** Other words for a part of a column's name. */
const otherWords: Readonly<Record<string, string>> = {
  avg: 'average|mean|durchschnitt\\p{L}*|moyen\\p{L}*|promedio|medio|media|gemiddeld\\p{L}*',
  median: 'median\\p{L}*|médian\\p{L}*|mediana',
  max: 'maximum|highest|largest|höchst\\p{L}*|maxim\\p{L}*',
  min: 'minimum|lowest|smallest|niedrigst\\p{L}*|minim\\p{L}*',
  order:
    'bestellung\\p{L}*|commandes?|pedidos?|ordini|ordine|encomendas?|bestelling\\p{L}*|zamówie\\p{L}*|aufträge?',
  customer: 'kunden?|clients?|clientes?|clienti|klanten|kunder',
  revenue:
    'umsatz|umsätze|ventes|chiffre d.affaires|ingresos|ventas|ricavi|fatturato|receita|omzet|sales',
  return: 'retouren?|rückgaben|retours?|devoluciones|devolución|resi|reso|devoluções',
  visit: 'besuche?|visites?|visitas?|visite|bezoeken',
  user: 'nutzer|benutzer|utilisateurs?|usuarios?|utenti|gebruikers',
  profit: 'gewinn|bénéfice|beneficio|utile|lucro|winst',
};

/** A column and what an answer may call it, where no other column is called so. */
interface ColumnName {
  readonly column: number;
  readonly words: RegExp;
}

const knownNames = new WeakMap<QueryEvidence, readonly ColumnName[]>();

/** The words that tell the numeric columns of a result from each other. */
function columnNames(query: QueryEvidence): readonly ColumnName[] {
  const known = knownNames.get(query);
  if (known !== undefined) return known;
  const kinds = columnKinds(query);
  const parts = query.columns.map(({ name }, index) =>
    isLabel(kinds[index]) || !isNumeric(query, index) ? [] : nameParts(name),
  );
  const names = parts.flatMap((own, column): ColumnName[] => {
    const rare = own.filter((part) => parts.filter((others) => others.includes(part)).length === 1);
    const words = rare.flatMap((part) => [`${escapeWord(part)}(?:s|es)?`, otherWords[part] ?? []]);
    return rare.length === 0
      ? []
      : [
          {
            column,
            words: new RegExp(`(?<!\\p{L})(?:${words.flat().join('|')})(?!\\p{L})`, 'giu'),
          },
        ];
  });
  knownNames.set(query, names);
  return names;
}

function isNumeric({ rows }: QueryEvidence, index: number): boolean {
  return rows.some((row) => /^-?\d/.test(String(row[index])) && !/^\d+-/.test(String(row[index])));
}

function nameParts(name: string): readonly string[] {
  return (
    name
      .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split(/[^\p{L}]+/u)
      .map((part) => part.replace(/(?<=..[^s])s$/, ''))
      // `40 units` are not of the column unit_price.
      .filter((part, _, { length }) => part !== 'unit' || length === 1)
      .filter((part) => part.length > 2 && part !== 'total' && part !== 'sum')
  );
}

function escapeWord(word: string): string {
  return word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The only column that a text names; undefined if it names none or several. */
export function namedColumn(query: QueryEvidence, text: string): number | undefined {
  const named = columnNames(query).filter(({ words }) => text.search(words) >= 0);
  return named.length === 1 ? named[0]?.column : undefined;
}

/** False where a unit is part of the names of several other columns: `hours`. */
export function canHaveUnit(query: QueryEvidence, column: number, unit: string): boolean {
  const words = nameParts(unit.replaceAll(' ', '_'));
  const names = query.columns.map(({ name }) => nameParts(name));
  if (isUnitOfOthers(query, column, unit)) return false;
  const shared = words.filter((word) => names.filter((parts) => parts.includes(word)).length > 1);
  return shared.length === 0 || shared.some((word) => names[column]?.includes(word));
}

/** `368 ms` is of a column that ends with `ms`, where there is one. */
function isUnitOfOthers({ columns }: QueryEvidence, column: number, unit: string): boolean {
  const [word = ''] = unit.toLowerCase().split(' ');
  const ends = columns.map(({ name }) => /_([a-z]+)$/i.exec(name)?.[1]?.toLowerCase());
  return word !== '' && ends.includes(word) && ends[column] !== word;
}

/** The column of the name that stands last in a text. */
export function lastNamedColumn(query: QueryEvidence, text: string): number | undefined {
  const places = columnNames(query).flatMap(({ column, words }) =>
    [...text.matchAll(words)].map(({ index }) => ({ column, index })),
  );
  return places.toSorted((a, b) => a.index - b.index).at(-1)?.column;
}
