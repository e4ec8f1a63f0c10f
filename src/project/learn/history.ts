import { UserError } from '../../lib/error.ts';
import {
  collectStatements,
  type CollectedStatements,
} from '../../scan/history/collect-statements.ts';
import { readQueryLogs } from '../../scan/history/read-query-logs.ts';
import type { HistoryAccess } from '../../warehouse/history/statement-history.ts';
import type { Project } from '../open/open.ts';

export interface ShownHistory extends CollectedStatements {
  readonly connection: string;
  /** Whether an ingest reads it. */
  readonly isOn: boolean;
  /** Undefined if the engine keeps no history: then only the files of `scan.query_logs` count. */
  readonly access: HistoryAccess | undefined;
}

/**
 * What people ran on a warehouse: templates without literals, and logins. Keeps nothing. Throws if
 * there is nothing that could be read.
 */
export async function showHistory(
  project: Project,
  requested: string | undefined,
  signal: AbortSignal,
): Promise<ShownHistory> {
  const { name: connection, history: config } = project.connection(requested);
  await project.trust.requireQueryLogs();
  const { query_logs: paths } = project.config.scan;
  const warehouse = await project.loginWarehouse(connection, signal);
  const access = await warehouse.history?.access(signal);
  if (access?.isReadable !== true && paths.length === 0) throw unreadable(connection, access);
  const live = access?.isReadable === true ? await warehouse.history?.read(signal) : undefined;
  const files = await readQueryLogs(paths, project.dir);
  const collected = collectStatements({ live, files }, config, warehouse.dialect);
  return { ...collected, connection, isOn: config?.enabled === true, access };
}

function unreadable(connection: string, access: HistoryAccess | undefined): UserError {
  if (access === undefined || access.isReadable)
    return new UserError('history_unreadable', `${connection} does not tell what people ran.`, {
      hint: 'Export the history and name the file under scan.query_logs in ktx.yaml.',
    });
  return new UserError('history_unreadable', `${connection}: ${access.why}.`, {
    hint: access.remedy.join(' '),
  });
}
