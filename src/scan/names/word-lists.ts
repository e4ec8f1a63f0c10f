import { readWordList } from '../../lib/word-list.ts';

const load = (name: string): ReadonlySet<string> =>
  readWordList(new URL(`words/${name}.txt`, import.meta.url));

/** Words that mark a key: `id`, `code`, `number`… */
export const idWords = load('keys');
/** Words in table names that name nothing: `dim`, `fact`, `tbl`… */
export const tableNoise = load('table-noise');
/** Words that measure or order: `amount`, `rank`… */
export const measureWords = load('measures');
/** What tells things of one table apart: `type`, `status`… */
export const kindWords = load('kinds');
/** Roles that a row plays for another row of its own table: `parent`, `manager`… */
export const selfRoles = load('self-roles');
/** Roles that a person plays: `author`, `reviewer`… */
export const personRoles = load('person-roles');
/** What only persons have: `age`, `sex`, `surname`… */
export const personColumns = load('person-columns');
/** Other roles: `origin`, `billing`… */
export const otherRoles = load('other-roles');
/** Roles of what a row leads from and to: `origin`, `destination`… */
export const directions = load('directions');
/** At the start of a name these words may ask how many. */
export const countWords = new Set(['number', 'num', 'no', 'nbr', 'nr', 'numero', 'nummer']);
/** At the start of a name these words ask whether. */
export const flagWords = new Set(['is', 'has', 'can', 'was', 'ist', 'hat', 'est', 'es', 'tiene']);
/** After another word these lead to another row of the same table: `part_of`, `merged_into`. */
export const selfPrepositions = new Set(['of', 'to', 'into', 'from', 'von', 'zu', 'de', 'di']);
/** At the end of a name these words say that it is who did it: `created_by`, `erstellt_von`. */
export const agentEnds = new Set(['by', 'von', 'por', 'par', 'door', 'av', 'przez']);
/** Roles that are written together with the name of the row's own table: `Obergruppe`. */
export const compoundRoles = load('compound-roles');
/**
 * Words for people who work with the data, and for people whom they serve; with their
 * abbreviations.
 */
export const staffWords = withAbbreviations(load('staff'));
export const peopleWords = withAbbreviations(load('people'));

/** Id words that are written without a separator: `orderkey`. */
export const gluedSuffixes = [
  'identifier',
  'number',
  'nummer',
  'code',
  'uuid',
  'guid',
  'key',
  'num',
  'id',
  'no',
  'nr',
  'sk',
  'cd',
  'fk',
  'pk',
];
/**
 * Id words of scripts without spaces: what stands before them is a word of its own, known or not.
 */
export const unspacedSuffixes = [
  '番号',
  '編号',
  '编号',
  '編碼',
  '编码',
  '代码',
  '代碼',
  'コード',
  '번호',
  '코드',
  '아이디',
];

/**
 * Each word and its prefixes of five or more letters: `mitarb`, `custo`. A shorter word has no
 * prefixes.
 */
function withAbbreviations(list: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(
    [...list].flatMap((word) =>
      Array.from({ length: Math.max(1, word.length - 4) }, (_, cut) =>
        word.slice(0, word.length - cut),
      ),
    ),
  );
}
