import { textTokens } from '../../gate/text-tokens.ts';
import { gateRefusal } from '../../warehouse-error.ts';

/** The tokens of a text. Comments of the engine nest, and such are refused. */
const tokenPattern =
  /(?<comment>\/\*[^]*?\*\/|--[^\r\n]*)|(?<text>'(?:[^']|'')*')|(?<name>\[(?:[^\]]|\]\])+\]|"(?:[^"]|"")+")|(?<code>[^/\-'"[]+|[^'"[])/gy;
/** No query needs them outside of quotes: variables, temporary tables, escapes, labels. */
const refusedCharacters = /[^\x20-\x7e\t\n\r\p{L}\p{N}]|[`@#$\\{}?;:]/u;
/**
 * Words that begin another statement: the engine needs no `;` between two. It reserves nearly all
 * of them, so a column of such a name stands in brackets anyway.
 */
const statementWords =
  /\b(?:ADD|ALTER|BACKUP|BEGIN|BREAK|BROWSE|BULK|CHECKPOINT|CLOSE|COMMIT|CONTINUE|CONVERSATION|CREATE|DBCC|DEALLOCATE|DECLARE|DELETE|DENY|DISK|DROP|DUMP|EXEC|EXECUTE|EXIT|GOTO|GRANT|IF|INSERT|INTO|KILL|LINENO|LOAD|MERGE|OPEN|OPENDATASOURCE|OPENQUERY|OPENROWSET|PRINT|PROC|PROCEDURE|RAISERROR|READTEXT|RECEIVE|RECONFIGURE|RESTORE|RETURN|REVERT|REVOKE|ROLLBACK|SAVE|SEND|SET|SETUSER|SHUTDOWN|THROW|TRIGGER|TRUNCATE|UPDATE|UPDATETEXT|USE|WAITFOR|WHILE|WRITETEXT)\b|(?<!\bROWS?\s{1,100})\bFETCH\b/iu;

interface StatementTexts {
  /** For the server: the statement with its comments blank, and without a `;` at its end. */
  readonly sent: string;
  /** For the analyzer: of the same length, and texts hold no character that could end them. */
  readonly normalized: string;
}

/**
 * A statement as the analyzer and the server read it alike. Throws `gate_refused` for what the two
 * could read differently, and for words that begin another statement.
 */
export function readStatementText(sql: string): StatementTexts {
  let [sent, normalized, allCode] = ['', '', ''];
  for (const { 0: token, groups = {} } of textTokens(sql, { pattern: tokenPattern })) {
    const { comment, text, code } = groups;
    if (comment !== undefined) checkComment(comment);
    if (text !== undefined && /\\[\r\n]/.test(text))
      throw gateRefusal('parse', 'it has a text with a backslash at the end of a line.');
    const blank = token.replaceAll(/[^\n]/g, ' ');
    sent += comment === undefined ? token : blank;
    if (comment !== undefined) normalized += blank;
    else normalized += text === undefined ? token : plainText(text);
    // A quoted name or a text ends a word, and is no end of the statement.
    allCode += code ?? (comment === undefined ? '"'.repeat(token.length) : blank);
  }
  const last = /;\s*$/.exec(allCode)?.index;
  checkCode(withoutCharacter(allCode, last));
  return { sent: withoutCharacter(sent, last), normalized: withoutCharacter(normalized, last) };
}

/** The `;` at the end of a statement, if there is one, becomes a space. */
function withoutCharacter(text: string, at: number | undefined): string {
  return at === undefined ? text : `${text.slice(0, at)} ${text.slice(at + 1)}`;
}

/** Line ends stay, so that the analyzer counts lines as people do. */
function plainText(text: string): string {
  return `'${text.slice(1, -1).replaceAll(/[^\w\s%:.,+-]/g, '_')}'`;
}

function checkComment(comment: string): void {
  if (comment.slice(2).includes('/*')) throw gateRefusal('parse', 'it has a comment in a comment.');
}

function checkCode(code: string): void {
  const [character] = refusedCharacters.exec(code) ?? [];
  if (character === ';') throw gateRefusal('statement', 'the text has more than one statement.');
  if (character !== undefined)
    throw gateRefusal('parse', `it has the character ${character} outside of quotes.`);
  const [word] = statementWords.exec(code) ?? [];
  if (word !== undefined)
    throw gateRefusal(
      'statement',
      `it has the word ${word.toUpperCase()}, which begins another statement.`,
      'Write a column of that name in brackets, as [name].',
    );
}
