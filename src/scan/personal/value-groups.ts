import type { FieldType } from '../../sql/field-type.ts';
import { splitNameWords } from '../names/split-words.ts';
import { checkedNumbers, compactNumber, isCpr } from './check-digits.ts';
import type { PersonalGroup } from './column-names.ts';
import { nameShape } from './person-names.ts';
import {
  isBloodType,
  isDetailedIcdCode,
  isIcdCode,
  namesDisease,
  namesEthnicity,
  namesFirm,
  namesReligion,
  namesTrait,
} from './sensitive-words.ts';
import {
  hasLargePart,
  isAddress,
  isBarePhone,
  isCardNumber,
  isCoordinate,
  isHandle,
  isIban,
  isImei,
  isIpv4,
  isIpv6,
  isMac,
  isMail,
  isPhone,
  isProfileUrl,
  isSecret,
  isSsn,
} from './text-forms.ts';

/**
 * A rule for the distinct values of a column: at least `least` values, of which `share` pass the
 * test.
 */
interface ValueRule {
  readonly group: PersonalGroup;
  readonly test: (value: string) => boolean;
  readonly share: number;
  readonly least: number;
  /** What must hold besides. */
  readonly also?: (values: readonly string[]) => boolean;
}

const shareOf = (values: readonly string[], test: (value: string) => boolean): number =>
  values.filter(test).length / values.length;

const rules: readonly ValueRule[] = [
  { group: 'mail', test: isMail, share: 0.6, least: 1 },
  { group: 'bank', test: isIban, share: 0.8, least: 1 },
  { group: 'card', test: isCardNumber, share: 0.9, least: 4 },
  { group: 'network', test: isMac, share: 0.9, least: 1 },
  { group: 'network', test: isIpv6, share: 0.9, least: 1 },
  {
    group: 'network',
    test: isIpv4,
    share: 0.9,
    least: 1,
    also: (values) => shareOf(values, hasLargePart) >= 0.5,
  },
  { group: 'network', test: isImei, share: 0.95, least: 8 },
  { group: 'secret', test: isSecret, share: 0.7, least: 1 },
  { group: 'profile', test: isProfileUrl, share: 0.8, least: 1 },
  { group: 'handle', test: isHandle, share: 0.9, least: 3 },
  { group: 'place', test: isCoordinate, share: 0.9, least: 1 },
  { group: 'national_id', test: isSsn, share: 0.95, least: 3 },
  { group: 'national_id', test: isCpr, share: 0.95, least: 5 },
  { group: 'phone', test: isPhone, share: 0.85, least: 2 },
  { group: 'phone', test: isBarePhone, share: 0.97, least: 8 },
  { group: 'address', test: isAddress, share: 0.6, least: 2 },
  {
    group: 'health',
    test: isIcdCode,
    share: 0.95,
    least: 3,
    also: (values) => shareOf(values, isDetailedIcdCode) >= 0.3,
  },
  { group: 'health', test: namesDisease, share: 0.45, least: 2 },
  {
    group: 'health',
    test: isBloodType,
    share: 1,
    least: 2,
    also: (values) => values.some((value) => /^(?:AB|O|0)/i.test(value)),
  },
  { group: 'belief', test: namesReligion, share: 0.5, least: 2 },
  { group: 'belief', test: namesEthnicity, share: 0.4, least: 2 },
  { group: 'person', test: namesTrait, share: 0.6, least: 2 },
];

interface ColumnOfValues {
  readonly name: string;
  readonly type: FieldType;
}

/** The group that the distinct values of a column show. */
export function groupOfValues(
  values: readonly string[],
  { name, type }: ColumnOfValues,
): PersonalGroup | undefined {
  if (values.length === 0 || type === 'boolean') return undefined;
  if (hasBirthDates(values, name)) return 'birth';
  if (type === 'date' || type === 'datetime' || type === 'datetime_tz') return undefined;
  const rule = rules.find(
    ({ test, share, least, also }) =>
      values.length >= least && shareOf(values, test) >= share && (also?.(values) ?? true),
  );
  if (rule !== undefined) return rule.group;
  if (hasNationalIds(values, name)) return 'national_id';
  return type === 'string' && hasNames(values, name) ? 'name' : undefined;
}

/**
 * Words in names of columns that number goods, firms and events, partly with the check digits of
 * people's numbers.
 */
const otherNumbers =
  /(?:isbn|issn|ean|gtin|upc|sku|siren|siret|duns|lei|vat|cnpj|regon|nip|abn|acn|ein|krs|routing|order|invoice|bestell|auftrag|rechnung|tracking|sendung)/i;

/**
 * Other numbers pass a check digit by chance in one of nine to eleven cases: a column of five does
 * not.
 */
function hasNationalIds(values: readonly string[], name: string): boolean {
  if (values.length < 5 || otherNumbers.test(name)) return false;
  const numbers = values.map(compactNumber);
  return checkedNumbers.some(
    ({ pattern, isValid }) =>
      shareOf(numbers, (text) => pattern.test(text) && isValid(text)) >= 0.95,
  );
}

/** Words in names of columns that hold names of something else. */
const otherNames = new Set(
  'city town ville stadt ort ciudad cidade citta miasto sehir stad город місто misto city_name country land pays pais paese kraj ulke страна region state province department abteilung team mannschaft club product produkt produit producto prodotto brand marke marque marca model modell category kategorie genre colour color farbe couleur status zustand state company firma supplier vendor store shop filiale branch campaign kampagne project projekt vorhaben title titel job role department weekday month monat day language sprache locale currency material werkstoff plan tarif event type typ kind class grade size unit channel source species planet station street_type'.split(
    ' ',
  ),
);

const saysOtherNames = (name: string): boolean =>
  splitNameWords(name).some((word) => otherNames.has(word));

function hasNames(values: readonly string[], name: string): boolean {
  if (shareOf(values, namesFirm) >= 0.15) return false;
  const shapes = values.map(nameShape);
  const count = (wanted: readonly (string | undefined)[]): number =>
    shapes.filter((shape) => wanted.includes(shape)).length / values.length;
  const full = count(['full']);
  if (saysOtherNames(name)) return full >= 0.9 && values.length >= 8;
  if (values.length < 8) return full >= 0.75 && values.length >= 2;
  if (full >= 0.5) return true;
  const any = count(['full', 'given', 'family']);
  return any >= 0.6 || count(['given']) >= 0.6;
}

/** True if the values can be given or family names beside a column that has such. */
export function isNameLike(values: readonly string[], name: string): boolean {
  if (values.length < 4 || saysOtherNames(name)) return false;
  return shareOf(values, (value) => nameShape(value) !== undefined) >= 0.4;
}

const datePattern =
  /^(\d{4})[-/.](\d\d)[-/.](\d\d)(?:[T ]00:00(?::00)?.*)?$|^(\d\d)[-/.](\d\d)[-/.](\d{4})$/;
const otherDates =
  /(?:found|establish|gegrund|fondat|release|publi|hire|hired|einstell|since|start|join|creat|updat|order|build|built|bau|model|expir|valid|sign)/i;

/**
 * Dates of births spread over generations and end years ago: nearly all between 1915 and ten years
 * ago, over at least 35 years. No other dates of a business do that, except those that its columns
 * name.
 */
function hasBirthDates(values: readonly string[], name: string): boolean {
  if (values.length < 8 || otherDates.test(name)) return false;
  const years = values
    .map((value) => datePattern.exec(value))
    .flatMap((match) => (match === null ? [] : [Number(match[1] ?? match[6])]))
    .sort((a, b) => a - b);
  if (years.length < values.length * 0.95) return false;
  const at = (share: number): number => years[Math.floor((years.length - 1) * share)] ?? 0;
  const limit = new Date().getFullYear() - 10;
  return at(0.02) >= 1915 && at(0.98) <= limit && at(0.95) - at(0.05) >= 35;
}
