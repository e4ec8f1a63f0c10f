import type { Dialect } from '../../sql/dialect.ts';

/**
 * Comments, strings and quoted names reach to the end of the text if nothing ends them, so that a
 * text is read in linear time.
 */
const tokenPattern =
  /(?<space>\s+|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))|(?<quoted>'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$))|(?<word>[\p{L}_][\p{L}\p{N}_$]*)|\d[\w.]*|\|\||[^]/gu;

/**
 * Words that the analyzer takes for keywords, and that engines take for names where nothing else
 * makes sense.
 */
const softWords = new Set(
  `after always any anti apply asc asof authorization before begin binary body both by cache cascade cluster column comment
  connect cross cube current cycle database date datetime declare desc describe distribute domain each exclude execute fetch
  filter final first following function generated glob grant groups if ignore ilike increment inner input instead interval key
  kill language last lateral leading like load local match materialized maxvalue merge minus minvalue natural next no nulls of
  offset old only operator ordinality others over overlaps partition percent placing plan pragma preceding prepare preserve
  prior procedure qualify query range recursive refresh regexp replace respect restart restrict returns revoke rlike role
  rollup row rows sample savepoint schema sequence share show some start statement system tablesample temp temporary ties time
  timestamp top trailing trigger truncate type unbounded unnest unpivot until vacuum value view virtual window with within
  without year zone`.split(/\s+/),
);
/** What follows a name: the end of an expression, an operator, or the next clause. */
const afterName = new Set(
  `, ) ; . = < > + - * / % || ! as and or is in not between then else end from where group having order limit union intersect
  except on join left right full outer`.split(/\s+/),
);
/** Before one of these words, `natural join` and its like are a join. */
const afterJoinWord = new Set(['join', 'left', 'right', 'full', 'outer']);
const joinWords = new Set(['natural', 'cross', 'inner']);

/**
 * Quotes each soft keyword that stands where a name ends: an alias `AS percent`, or `key` in
 * `key.id`. Nothing else changes, so the analyzer still sees every function and every other table
 * of the statement.
 */
export function quoteSoftWords(sql: string, dialect: Pick<Dialect, 'quote'>): string {
  const tokens = Array.from(sql.matchAll(tokenPattern), ({ 0: text, groups = {} }) => ({
    text,
    word: groups['word']?.toLowerCase(),
    isSpace: groups['space'] !== undefined,
  }));
  const solid = tokens.filter(({ isSpace }) => !isSpace);
  const isName = new Map(
    solid.map((token, index) => {
      const next = solid[index + 1];
      const { word = '' } = token;
      const nextText = next?.word ?? next?.text ?? ';';
      const isJoin = joinWords.has(word) && afterJoinWord.has(nextText);
      const isSoft = softWords.has(word) && afterName.has(nextText) && !isJoin;
      return [token, isSoft || (softWords.has(word) && solid[index - 1]?.text === '.')] as const;
    }),
  );
  return tokens
    .map((token) => (isName.get(token) === true ? dialect.quote(token.text) : token.text))
    .join('');
}
