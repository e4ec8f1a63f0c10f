import type { Dialect } from '../../sql/dialect.ts';
import type { HistoryConfig } from '../../warehouse/history/history-config.ts';
import {
  type LoggedStatement,
  ownStatementMark,
  type StatementLog,
} from '../../warehouse/history/statement-history.ts';
import { isServiceAccount, matchesAny } from './service-accounts.ts';
import { statementTemplate, templateId } from './template.ts';

/** What people asked, once for each template. */
export interface HistoryStatement {
  readonly id: string;
  /** One of the statements that have the template, with its literals: it is never kept. */
  readonly sql: string;
  readonly template: string;
  readonly runs: number;
  /** How many people ran it; undefined if the log does not tell. */
  readonly users: number | undefined;
}

/** Why statements do not count. */
type LeftOutReason = 'ktx' | 'tool' | 'user' | 'statement' | 'rare';

export interface CollectedStatements {
  /** The most frequent first. */
  readonly statements: readonly HistoryStatement[];
  /** The number of templates that do not count, by reason. */
  readonly leftOut: Readonly<Partial<Record<LeftOutReason, number>>>;
  /** The logins of the log with the runs of each, the most active first. */
  readonly users: readonly HistoryUser[];
  readonly since?: string | undefined;
  /** Statements that the engine cut off or does not show. */
  readonly hidden: number;
}

interface HistoryUser {
  readonly name: string;
  readonly runs: number;
  /** Why their statements do not count; undefined if they do. */
  readonly leftOut: 'tool' | 'user' | undefined;
}

/** How many templates are read at most. */
const mostTemplates = 20_000;

interface Collecting {
  readonly sql: string;
  readonly template: string;
  runs: number;
  isOwn: boolean;
  readonly byUser: Map<string, number>;
  /** Runs of which the log does not tell the login. */
  anonymous: number;
  /** True for a statement of a file, which a person has named: it counts however rare it is. */
  isNamed: boolean;
}

/**
 * One statement for each template, without those of ktx, of tools, and of the logins and statements
 * that the configuration leaves out.
 */
export function collectStatements(
  {
    live,
    files,
  }: { readonly live?: StatementLog | undefined; readonly files: readonly LoggedStatement[] },
  config: HistoryConfig | undefined,
  dialect: Pick<Dialect, 'quote'>,
): CollectedStatements {
  const byTemplate = new Map<string, Collecting>();
  for (const statement of live?.statements ?? []) addStatement(statement, false);
  for (const statement of files) addStatement(statement, true);
  const leftOut: Partial<Record<LeftOutReason, number>> = {};
  const statements = [...byTemplate.values()].flatMap((entry): HistoryStatement[] => {
    const counted = countRuns(entry, config);
    const id = templateId(entry.template);
    const reason = reasonToLeaveOut(entry, counted, { id, config });
    if (reason !== undefined) {
      leftOut[reason] = (leftOut[reason] ?? 0) + 1;
      return [];
    }
    const { sql, template } = entry;
    return [{ id, sql, template, runs: counted.runs, users: counted.users }];
  });
  statements.sort((a, b) => b.runs - a.runs || (a.id < b.id ? -1 : 1));
  const users = listUsers(byTemplate.values(), config);
  return { statements, leftOut, users, since: live?.since, hidden: live?.hidden ?? 0 };

  function addStatement({ sql, runs, runsByUser }: LoggedStatement, isNamed: boolean): void {
    const template = statementTemplate(sql, dialect);
    if (!/^\(* ?(?:select|with)\b/i.test(template)) return;
    const known = byTemplate.get(template);
    if (known === undefined && byTemplate.size >= mostTemplates) return;
    const entry = known ?? newEntry(sql, template);
    byTemplate.set(template, entry);
    entry.runs += runs;
    entry.isNamed ||= isNamed;
    entry.isOwn ||= isOwnStatement(sql);
    if (runsByUser === undefined) entry.anonymous += runs;
    for (const [user, count] of runsByUser ?? [])
      entry.byUser.set(user, (entry.byUser.get(user) ?? 0) + count);
  }
}

function newEntry(sql: string, template: string): Collecting {
  return { sql, template, runs: 0, isOwn: false, byUser: new Map(), anonymous: 0, isNamed: false };
}

/** By the mark; or, where the engine drops comments, by the names that only a profile has. */
function isOwnStatement(sql: string): boolean {
  return sql.includes(ownStatementMark) || /\bAS\s*[`"]?ktx_/i.test(sql);
}

function countRuns({ byUser, anonymous }: Collecting, config: HistoryConfig | undefined) {
  const people = [...byUser].filter(([user]) => whyLeftOut(user, config) === undefined);
  return {
    runs: people.reduce((sum, [, count]) => sum + count, anonymous),
    users: byUser.size === 0 ? undefined : people.length,
  };
}

function whyLeftOut(user: string, config: HistoryConfig | undefined): HistoryUser['leftOut'] {
  if (matchesAny(user, config?.exclude_users ?? [])) return 'user';
  return isServiceAccount(user) ? 'tool' : undefined;
}

function reasonToLeaveOut(
  { isOwn, byUser, isNamed }: Collecting,
  { runs }: { readonly runs: number },
  { id, config }: { readonly id: string; readonly config: HistoryConfig | undefined },
): LeftOutReason | undefined {
  if (isOwn) return 'ktx';
  if (config?.exclude_statements.includes(id) === true) return 'statement';
  if (runs === 0)
    return [...byUser.keys()].some((user) => whyLeftOut(user, config) === 'user') ? 'user' : 'tool';
  return !isNamed && runs < (config?.min_runs ?? 1) ? 'rare' : undefined;
}

function listUsers(
  entries: Iterable<Collecting>,
  config: HistoryConfig | undefined,
): readonly HistoryUser[] {
  const runs = new Map<string, number>();
  for (const { byUser, isOwn } of entries) {
    if (isOwn) continue;
    for (const [user, count] of byUser) runs.set(user, (runs.get(user) ?? 0) + count);
  }
  return [...runs]
    .map(([name, count]) => ({ name, runs: count, leftOut: whyLeftOut(name, config) }))
    .sort((a, b) => b.runs - a.runs || (a.name < b.name ? -1 : 1));
}
