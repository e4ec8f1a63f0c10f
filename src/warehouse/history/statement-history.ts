import { UserError } from '../../lib/error.ts';

/** A statement that people ran, as the log of an engine has it. */
export interface LoggedStatement {
  /** With its literals, or with marks like `$1` and `?` in their place. */
  readonly sql: string;
  readonly runs: number;
  /** How often each login ran it; undefined if the log does not tell. */
  readonly runsByUser?: ReadonlyMap<string, number> | undefined;
}

export interface StatementLog {
  readonly statements: readonly LoggedStatement[];
  /** The day since when the engine counts, like 2026-11-01; undefined if it does not tell. */
  readonly since?: string | undefined;
  /** How many statements the engine cut off, or does not show to this login. */
  readonly hidden: number;
}

/** Whether a login can read what others ran; if not, why, and the statements that would help. */
export type HistoryAccess =
  | { readonly isReadable: true }
  | { readonly isReadable: false; readonly why: string; readonly remedy: readonly string[] };

/** What the engine remembers of the statements of all logins. Nothing is read until it is asked. */
export interface StatementHistory {
  access(signal: AbortSignal): Promise<HistoryAccess>;
  /** The statements that ran most often. Throws a UserError if the login cannot read them. */
  read(signal: AbortSignal): Promise<StatementLog>;
}

/** Throws `history_unreadable` with what would help. */
export function requireReadable(access: HistoryAccess): void {
  if (access.isReadable) return;
  throw new UserError('history_unreadable', `${access.why}.`, { hint: access.remedy.join(' ') });
}

/** How many statements are read of one log. */
export const mostLogged = 20_000;
/** In characters. A longer statement is data, and would take long to parse. */
export const longestLogged = 100_000;

/**
 * Stands at the end of every statement that ktx sends, so that ktx does not learn from itself. Some
 * engines drop it from their logs.
 */
export const ownStatementMark = '/* ktx */';

/** The statement with the mark, and who asks. A text that ends in `;` ends before them. */
export function markOwnStatement(sql: string, asker?: string): string {
  return `${sql.trimEnd().replace(/;{1,100}$/, '')}\n${statementMark(asker)}`;
}

/** The mark, and behind it who asks; a comment can end in no other place. */
export function statementMark(asker: string | undefined): string {
  return asker === undefined
    ? ownStatementMark
    : `${ownStatementMark} /* ${asker.replaceAll(/[^\w=:. -]/g, '_')} */`;
}
