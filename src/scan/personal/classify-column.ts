import type { FieldType } from '../../sql/field-type.ts';
import { peopleWords, staffWords } from '../names/word-lists.ts';
import { singular, splitNameWords } from '../names/split-words.ts';
import { groupOfName, type PersonalGroup } from './column-names.ts';
import { namesFirm } from './sensitive-words.ts';
import { groupOfValues, isNameLike } from './value-groups.ts';

/**
 * What makes a column personal: a group of personal data, prose, a document with personal keys, or
 * that a person says so.
 */
export type PersonalKind = PersonalGroup | 'document_keys' | 'prose' | 'declared';

export interface ClassifiedColumn {
  readonly name: string;
  readonly table: string;
  readonly type: FieldType;
  /** Values of some rows, as text. */
  readonly values: readonly string[];
}

/** Values that are looked at, and characters of each: the time for a column is bounded. */
const maxValues = 200;
const maxLength = 200;

/**
 * The kind of personal data that a column holds, by its name and by its values; undefined if
 * neither says so. Rules miss things: labels in dataset files, `scan.no_values` and
 * `scan.not_personal` overrule them.
 */
function kindOfColumn(column: ClassifiedColumn): PersonalKind | undefined {
  const values = distinctValues(column);
  const named = groupOfName(column.name);
  if (named !== undefined && isPlausible(named, column, values)) return named;
  if (isTime(column.type)) return groupOfValues(values, column);
  if (isPersonsName(column, values)) return 'name';
  if (hasPersonalKeys(values)) return 'document_keys';
  return groupOfValues(values, column) ?? (isProse(values, column.values) ? 'prose' : undefined);
}

/**
 * The kinds of a table's columns, by position. If one column has names of persons, another that
 * mostly has words which can be names counts as well: given and family names often stand in two
 * columns.
 */
export function personalKinds(
  columns: readonly ClassifiedColumn[],
): readonly (PersonalKind | undefined)[] {
  const kinds = columns.map(kindOfColumn);
  if (!kinds.includes('name')) return kinds;
  return kinds.map((kind, index) => {
    const column = columns[index];
    if (kind !== undefined || column?.type !== 'string') return kind;
    return isNameLike(distinctValues(column), column.name) ? 'name' : undefined;
  });
}

function distinctValues({ values }: ClassifiedColumn): string[] {
  const trimmed = values.slice(0, maxValues).map((value) => value.slice(0, maxLength).trim());
  return [...new Set(trimmed)].filter((value) => value !== '');
}

const isTime = (type: FieldType): boolean =>
  type === 'date' || type === 'datetime' || type === 'datetime_tz';

const shareOf = (values: readonly string[], test: (value: string) => boolean): number =>
  values.length === 0 ? 1 : values.filter(test).length / values.length;

const isFlag = (value: string): boolean =>
  /^(?:true|false|yes|no|t|f|y|n|ja|nein|oui|non|si|sí|sim|não|[01])$/i.test(value);
const hasDigits =
  (count: number) =>
  (value: string): boolean =>
    value.replaceAll(/\P{N}/gu, '').length >= count;

/**
 * Values that prove that the name speaks of something else: `mail` with `opened`, `phone` with
 * `iPhone`.
 */
const proofs: Partial<Readonly<Record<PersonalGroup, (value: string) => boolean>>> = {
  mail: (value) => value.includes('@'),
  phone: hasDigits(5),
  birth: (value) => hasDigits(1)(value) || /\p{L}{3}/u.test(value),
  national_id: hasDigits(3),
  document: hasDigits(2),
  plate: hasDigits(1),
  bank: hasDigits(4),
  card: hasDigits(3),
  money: hasDigits(1),
  name: (value) => /\p{L}/u.test(value),
  place: hasDigits(1),
};

function isPlausible(
  group: PersonalGroup,
  { type, table }: ClassifiedColumn,
  values: readonly string[],
): boolean {
  if (isTime(type)) return group === 'birth';
  const isTrait = group === 'health' || group === 'belief' || group === 'person';
  if (!isTrait && (type === 'boolean' || (values.length > 0 && values.every(isFlag)))) return false;
  if (group === 'place' && namesPlaces(table)) return false;
  const proof = proofs[group];
  return proof === undefined || shareOf(values, proof) >= 0.2;
}

const placeTables =
  /(?:store|shop|branch|site|station|airport|port|city|cities|town|warehouse|depot|hub|stop|country|countries|region|location|hotel|restaurant|venue|filial|standort|laden|magasin|tienda|sucursal|negozio|loja|sklep|магазин|город|склад|станци|店|駅|空港|城市|仓库|支店)/i;

/** Coordinates of shops, stations and cities are no personal data. */
const namesPlaces = (table: string): boolean => placeTables.test(table);

const plainNames = new Set(
  'name names nom nombre nome naam namn navn nimi isim ad nazwa imie имя название назва 名前 名称 姓名 이름 성명 اسم الاسم contact recipient buyer seller owner guest passenger patient customer client'.split(
    ' ',
  ),
);

/** A column that is only called a name, in a table of persons. */
function isPersonsName(
  { name, table, type }: ClassifiedColumn,
  values: readonly string[],
): boolean {
  if (type !== 'string' || !plainNames.has(name.toLowerCase())) return false;
  const isOfPersons = splitNameWords(table)
    .map(singular)
    .some((word) => peopleWords.has(word) || staffWords.has(word));
  return isOfPersons && shareOf(values, (value) => /\p{L}/u.test(value) && !namesFirm(value)) > 0.5;
}

/** Keys of a JSON document, also of one that was cut off. */
function hasPersonalKeys(values: readonly string[]): boolean {
  const documents = values.filter((value) => /^[[{]/.test(value));
  if (documents.length < values.length * 0.5 || documents.length === 0) return false;
  const keys = new Set(
    documents
      .slice(0, 50)
      .flatMap((text) => [...text.matchAll(/"([^"\\]{1,40})"\s*:/g)].map(([, key = '']) => key)),
  );
  return [...keys].some((key) => groupOfName(key) !== undefined);
}

/**
 * Texts that people write about anything. A column with few of them, such as product names, is
 * none.
 */
function isProse(values: readonly string[], all: readonly string[]): boolean {
  if (values.length === 0) return false;
  const words = values.reduce((sum, value) => sum + value.split(/\s+/).length, 0) / values.length;
  const isRepeated = values.length <= Math.max(10, all.length / 4);
  return (words > 5 && !isRepeated) || words > 9;
}
