import { gateRefusal } from '../warehouse-error.ts';

/** How an engine reads a text, before it is parsed. */
interface TokenRules {
  /** Matches one token at a time; it must be global and sticky. */
  readonly pattern: RegExp;
  /** What else may be wrong where nothing matches. Undefined: a quote that does not end. */
  readonly otherFault?: ((at: number) => string | undefined) | undefined;
}

/**
 * The tokens of a text, from its start to its end without a gap. Throws `gate_refused` where a
 * quote or a comment does not end.
 */
export function* textTokens(
  sql: string,
  { pattern, otherFault }: TokenRules,
): Generator<RegExpExecArray> {
  // A copy: a pattern remembers where it is, and two texts may be read in turns.
  const tokens = new RegExp(pattern);
  for (let position = 0; position < sql.length; position = tokens.lastIndex) {
    const token = tokens.exec(sql);
    if (token === null)
      throw gateRefusal('parse', otherFault?.(position) ?? 'a quote does not end.');
    if (token[0] === '/' && sql[position + 1] === '*')
      throw gateRefusal('parse', 'a comment does not end.');
    yield token;
  }
}
