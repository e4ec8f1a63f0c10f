import { isWithin } from '../../../sql/analyzer.ts';
import { isSymbol, isWord, type Token } from '../../../sql/tokens.ts';
import { pieceText, type SqlPiece } from '../../relational/sql-piece.ts';

/** A note if the SQL has NOT IN over a list with NULL, which no row meets. */
export function noteNullInList(notes: Set<string>, piece: SqlPiece): void {
  const tokens = piece.fragment.tokens.filter((token) => isWithin(token, piece.span));
  const hasNull = tokens.some(
    (token, index) =>
      isWord(token, 'not') && isWord(tokens[index + 1], 'in') && listHasNull(tokens, index + 2),
  );
  if (hasNull)
    notes.add(
      `No row meets NOT IN with NULL in the list: ${pieceText(piece).trim()}. Leave NULL out, and add IS NOT NULL if you mean that`,
    );
}

/** True if NULL is an entry of the list that begins at an index. */
function listHasNull(tokens: readonly Token[], start: number): boolean {
  const end = tokens.findIndex((token, index) => index > start && isSymbol(token, ')'));
  return tokens
    .slice(start, end === -1 ? undefined : end)
    .some(
      (token, index, list) =>
        isWord(token, 'null') && (isSymbol(list[index - 1], '(') || isSymbol(list[index - 1], ',')),
    );
}
