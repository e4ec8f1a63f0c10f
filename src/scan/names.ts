/** What a name says about the thing that it names: words without case, plural, prefixes and key suffixes. */
export interface NameParts {
  readonly words: readonly string[];
  /** The words that name an entity: without id words and without table prefixes such as `dim_`. */
  readonly entity: readonly string[];
  /** True where an id word (`id`, `key`, `code`, `no`…) was among the words. */
  readonly keyed: boolean;
  /** True where the last word is a plural: of a column that is not keyed it is a count. */
  readonly plural: boolean;
}

const keyWords: ReadonlySet<string> = new Set(
  'id ids key code cd num number no nr nbr sk pk fk bk nk uuid guid uid oid ident identifier ref rid nummer schluessel clave cle codigo numero abbr abbreviation iso'.split(' '),
); // prettier-ignore
const gluedKeyWords = ['identifier', 'number', 'nummer', 'code', 'uuid', 'guid', 'key', 'num', 'id', 'no', 'nr', 'sk', 'cd', 'fk', 'pk'];
const tableNoise = new Set('tbl tb t dim fact fct stg src raw vw mst mstr master lkp lookup xref rel app sys'.split(' '));
const measures = new Set(
  'amount amt qty quantity count cnt price cost total sum rate ratio percent pct age year month day week hour minute second length width height weight size duration score rank ranking rating points level priority position pos sort seq sequence order_by version revision balance salary wage discount tax fee lat latitude lon lng longitude stock units min max avg average value menge preis anzahl betrag betr jahr gewicht cantidad precio importe monto prix montant quantite annee lap laps grid place rounds round percentage volume capacity population area elevation budget revenue milliseconds seconds minutes bytes goals wins losses ppm gpa sat credits index limit offset interval'.split(' '),
); // prettier-ignore
const selfRoles = wordSet(
  'parent manager mgr supervisor boss superior reports predecessor previous prev next successor root original duplicate replaced replaces copied chief lead leader mentor spouse referred referrer head reply replied vorgesetzter chef jefe padre super base derived forked upline ancestor',
); // prettier-ignore
const personRoles = new Set(
  'created updated modified deleted approved owner author assignee assigned reporter reviewer approver creator editor sender recipient receiver buyer seller rep agent manager mgr supervisor lead leader head instructor teacher advisor contact user by performed requested signed host guest driver clerk cashier salesperson representative coach captain winner loser director editor translator leiter betreuer berater verantwortlich bearbeiter verkaeufer encargado responsable vendedor gerente responsible officer physician'.split(' '),
); // prettier-ignore
const people = new Set(
  'user employee emp staff person people member customer contact account player driver worker personnel mitarbeiter empleado usuario utilisateur benutzer persona individual party profile instructor teacher student faculty agent coach client guest author nurse doctor physician patient vendor supplier tenant subscriber passenger resident participant owner lawyer operator seller buyer crew actor arzt fahrer kunde cliente proveedor medico conductor alumno'.split(' '),
); // prettier-ignore

/** Splits a name; `vocabulary` (words of the schema's tables) tells where glued names such as `orderkey` part. */
export function nameParts(name: string, vocabulary: ReadonlySet<string> = new Set()): NameParts {
  const written = splitWords(name).flatMap((word) => unglue(word, vocabulary));
  const words = written.map(singular);
  const meaningful = words.filter((word) => !keyWords.has(word));
  const entity = meaningful.filter((word) => !tableNoise.has(word));
  return { words, entity: entity.length > 0 ? entity : meaningful, keyed: meaningful.length < words.length, plural: written.at(-1) !== words.at(-1) };
}

/** A table's words, without `prefix`: id words stay part of its entity (`zip_codes`, `account_numbers`). */
export function tableParts(name: string, prefix = ''): NameParts {
  const bare = prefix !== '' && name.length > prefix.length && name.toLowerCase().startsWith(prefix) ? name.slice(prefix.length) : name;
  const words = splitWords(bare).map(singular);
  const entity = words.filter((word) => !tableNoise.has(word));
  return { words, entity: entity.length > 0 ? entity : words, keyed: false, plural: false };
}

/** What most of the names start with (`l_` of `l_orderkey, l_partkey…`, `tbl` of `tblorder…`); '' where nothing. */
export function sharedPrefix(names: readonly string[]): string {
  const lower = names.map((name) => name.toLowerCase());
  const [first = '', second = '', third = ''] = lower;
  if (names.length < 3) return '';
  for (const [a, b] of [[first, second], [second, third], [first, third]] as const) {
    const common = a.slice(0, commonPrefix(a, b));
    const prefix = common.includes('_') ? common.slice(0, common.indexOf('_') + 1) : common;
    if (prefix.length >= 2 && lower.filter((name) => name.startsWith(prefix)).length >= names.length * 0.75) return prefix;
  }
  return '';
}

export function isMeasure(parts: NameParts): boolean {
  return !parts.keyed && (parts.plural || parts.words.some((word) => measures.has(word)));
}

/** A role that a row plays for another row of its own table, and no other table's name beside it. */
export function isSelfRole(parts: NameParts, table: NameParts): boolean {
  const explains = (word: string): boolean => selfRoles.has(word) || word.length <= 2 || table.entity.some((own) => similarWords(word, own) > 0);
  return parts.entity.some((word) => selfRoles.has(word)) && parts.entity.every(explains);
}

export const isPersonRole = (parts: NameParts): boolean => parts.words.some((word) => personRoles.has(word));
export const isPeople = (table: NameParts): boolean => table.entity.some((word) => people.has(word));

export interface NameMatch {
  /** 0..1: the child's words are the parent's words. */
  readonly full: number;
  /** 0..1: the child's words end with the parent's words; what stands before is a role. */
  readonly tail: number;
  /** 0..1: share of words in common. */
  readonly partial: number;
}

/** How far a column's entity words name an entity. */
export function matchNames(child: readonly string[], parent: readonly string[]): NameMatch {
  if (child.length === 0 || parent.length === 0) return { full: 0, tail: 0, partial: 0 };
  const glued = child.join('') === parent.join('') ? 1 : 0;
  const tail = tailQuality(child, parent);
  const full = Math.max(child.length === parent.length && child[0]?.[0] === parent[0]?.[0] ? tail : 0, glued, acronym(child, parent));
  const common = (a: readonly string[], b: readonly string[]) =>
    a.reduce((sum, word) => sum + Math.max(...b.map((other) => similarWords(word, other))), 0) / a.length;
  const [mine, theirs] = [common(child, parent), common(parent, child)];
  const headMatches = similarWords(child.at(-1) ?? '', parent.at(-1) ?? '');
  const inside = Math.max(mine, theirs) * 0.6 + Math.min(mine, theirs) * 0.2 + headMatches * 0.2;
  return { full, tail: full < tail ? tail : 0, partial: inside };
}

function tailQuality(child: readonly string[], parent: readonly string[]): number {
  const [mine, theirs] = [child.join(''), parent.join('')];
  if (theirs.length >= 4 && mine.endsWith(theirs)) return 1;
  if (parent.length > child.length) return 0;
  const tail = child.slice(child.length - parent.length);
  return Math.min(...tail.map((word, index) => similarWords(word, parent[index] ?? '')));
}

function acronym(child: readonly string[], parent: readonly string[]): number {
  const [word] = child;
  return child.length === 1 && parent.length > 1 && word === parent.map((part) => part[0]).join('') ? 0.7 : 0;
}

/** 1 equal, less for an abbreviation: a prefix of three letters or more, or letters in order from the same start. */
export function similarWords(a: string, b: string): number {
  if (a === b) return 1;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length >= 3 && long.startsWith(short)) return short.length / long.length > 0.7 ? 0.9 : 0.8;
  if (short.length >= 6 && long.length - short.length <= 1 && commonPrefix(short, long) >= short.length - 1) return 0.8;
  if (short.length >= 2 && short[0] === long[0] && short.length < long.length - 1 && isAbbreviation(short, long)) return 0.6;
  if (short.length >= 5 && commonPrefix(short, long) >= 4 && commonPrefix(short, long) / short.length >= 0.7) return 0.5;
  return 0;
}

/** Letters in order; those that are left out are mostly vowels (`dpt` of `department`, not `cat` of `contract`). */
function isAbbreviation(short: string, long: string): boolean {
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return at === short.length && !/[aeiou]/.test(short.slice(1));
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

function splitWords(name: string): string[] {
  return name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .flatMap((word) => word.split(/(?<=\p{L}{2})(?=\d+$)/u))
    .filter((word) => word !== '');
}

function unglue(word: string, vocabulary: ReadonlySet<string>): string[] {
  for (const suffix of gluedKeyWords) {
    const rest = word.slice(0, -suffix.length);
    if (!word.endsWith(suffix) || rest.length < 2) continue;
    const known = vocabulary.has(singular(rest)) || (rest.length >= 3 && [...vocabulary].some((entry) => entry.startsWith(rest)));
    if (known) return [rest, suffix];
  }
  return [word];
}

export function singular(word: string): string {
  if (word.length <= 3 || keyWords.has(word)) return word;
  if (word === 'people') return 'person';
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (/(ss|x|ch|sh|zz)es$/.test(word)) return word.slice(0, -2);
  if (/[^ao]uses$/.test(word)) return word.slice(0, -2);
  if (/(ss|us|is)$/.test(word)) return word;
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(singular));
}
