import { UserError } from '../../lib/error.ts';
import type { TableRef } from '../../sql/dialect.ts';
import { tableKey } from '../../sql/dialect.ts';
import type { Project } from '../open/open.ts';
import { hashBasis } from './basis.ts';
import { seesAllOf } from './find-verified.ts';
import { removeVerified, writeVerified, type VerifiedQuestion } from './verified-file.ts';

interface PassedCase extends Pick<
  VerifiedQuestion,
  'id' | 'file' | 'question' | 'connection' | 'answer' | 'run'
> {
  /** What ran: that of the agent and the golden one. */
  readonly statements: readonly string[];
  /** Files that the answer rests on, as its receipt has them. */
  readonly files: readonly string[];
}

/**
 * Keeps that an answer passed, until its case fails or something that it uses changes. An answer of
 * a role from which row rules hide rows is not kept: it holds for that role alone.
 */
export async function verifyQuestion(
  project: Project,
  passed: PassedCase,
  signal: AbortSignal,
): Promise<void> {
  const { id, file, question, connection, answer, run, statements, files } = passed;
  const tables = await tablesOf(project, { connection, statements }, signal);
  const place = { id, file, connection };
  const uses = [...new Set([...files, ...(await filesOf(project, passed, tables))])].sort();
  const basis = await hashBasis(project, { ...place, uses, tables });
  const isFounded = basis !== undefined && uses.length + tables.length > 0;
  if (!isFounded || !(await seesAllOf(project, { connection, answer, uses })))
    return removeVerified(project.dir, id);
  const at = new Date().toISOString();
  const kept = { version: 1, ...place, question, answer, uses, tables, basis, run, at } as const;
  await writeVerified(project.dir, kept);
}

/** The tables that the statements read, sorted. */
async function tablesOf(
  project: Project,
  { connection, statements }: Pick<PassedCase, 'connection' | 'statements'>,
  signal: AbortSignal,
): Promise<VerifiedQuestion['tables']> {
  const warehouse = await project.warehouse(connection, signal);
  const tables = new Map<string, TableRef>();
  for (const sql of new Set(statements))
    for (const table of await readsOf(warehouse, sql)) tables.set(tableKey(table), table);
  return [...tables.keys()].sort().flatMap((key) => {
    const { catalog, schema, table } = tables.get(key) ?? { schema: '', table: '' };
    return { ...(catalog === undefined ? {} : { catalog }), schema, table };
  });
}

/** Statements such as `SHOW TABLES` read the catalog alone. */
async function readsOf(
  warehouse: Awaited<ReturnType<Project['warehouse']>>,
  sql: string,
): Promise<readonly TableRef[]> {
  try {
    return await warehouse.reads(sql);
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

/** Files of the datasets on these tables, and of those that the query names. */
async function filesOf(
  project: Project,
  { connection, answer }: PassedCase,
  tables: VerifiedQuestion['tables'],
): Promise<readonly string[]> {
  const { model } = await project.model(connection);
  const names = new Set(tables.map(({ table }) => table.toLowerCase()));
  const text = answer.kind === 'query' ? JSON.stringify(answer.query) : '';
  const named = new Set(text.match(/[\p{L}\p{N}_]+(?=\.)/gu));
  return [...model.datasets.values()]
    .filter(({ name, relation }) => {
      if (named.has(name)) return true;
      return relation.kind !== 'query' && names.has(relation.parts.at(-1)?.toLowerCase() ?? '');
    })
    .map(({ file }) => file);
}
