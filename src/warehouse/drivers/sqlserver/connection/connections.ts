import PQueue from 'p-queue';
import { requireExtra } from '../../../../store/extras/require-extra.ts';
import type { QueryRows } from '../../../driver.ts';
import { type CallLimits, withTimeLimit } from '../../../time-limit.ts';
import { translateError } from '../../../warehouse-error.ts';
import { sqlserverErrors } from '../errors.ts';
import type { SqlServerSettings } from '../settings.ts';
import { readNumbersExactly } from './exact-numbers.ts';
import { type OpenClient, openClient } from './open-client.ts';
import { sendRequest } from './send-request.ts';

/** Statements of one transaction, which is rolled back. */
export interface SqlServerTransaction {
  /** Sends one statement by itself; returns its rows. */
  query(sql: string, maxRows: number): Promise<QueryRows>;
  /** The plan of a statement, as XML. The statement does not run. */
  plan(sql: string): Promise<string>;
}

type Send = (sql: string, by: 'batch' | 'procedure', maxRows?: number) => Promise<QueryRows>;
type SqlServerWork<T> = (transaction: SqlServerTransaction) => Promise<T>;

const mostConnections = 4;
const hintIfRunning = 'sys.dm_exec_requests on the server shows it.';

/** Runs all work in transactions of a few connections, and rolls them back. */
export async function openConnections(settings: SqlServerSettings) {
  requireExtra('sqlserver');
  const tedious = await import('tedious');
  await readNumbersExactly();
  const rules = sqlserverErrors(`SQL Server at ${settings.host}:${settings.port}`);
  const queue = new PQueue({ concurrency: mostConnections });
  const idle: OpenClient[] = [];
  const open = new Set<OpenClient>();
  let isolation = 'READ COMMITTED';

  const connect = async (signal: AbortSignal): Promise<OpenClient> => {
    const client = await openClient(settings, tedious, signal);
    open.add(client);
    client.connection.on('end', () => {
      open.delete(client);
      if (idle.includes(client)) idle.splice(idle.indexOf(client), 1);
    });
    return client;
  };

  const runOnce = async <T>(work: SqlServerWork<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted();
    const client = idle.pop() ?? (await connect(signal));
    const { connection } = client;
    const cancel = (): void => void connection.cancel();
    const endWatch = client.limitBytes();
    signal.addEventListener('abort', cancel, { once: true });
    const sendAlways: Send = (sql, by, maxRows = 0) =>
      sendRequest(connection, { sql, by, maxRows }, tedious).catch(translateError(rules));
    const send: Send = async (...statement) => {
      signal.throwIfAborted();
      return sendAlways(...statement);
    };
    let isWhole = false;
    try {
      await send(beginSql(isolation), 'batch');
      const result = await work(transactionOf(send));
      isWhole = true;
      return result;
    } finally {
      signal.removeEventListener('abort', cancel);
      const isOver = await sendAlways('IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION', 'batch').then(
        () => true,
        () => false,
      );
      endWatch();
      // After an error the settings of the session are not known.
      if (isOver && isWhole && open.has(client)) idle.push(client);
      else connection.close();
    }
  };

  return {
    /** From now on transactions read the rows as they were when they began. */
    useSnapshots(): void {
      isolation = 'SNAPSHOT';
    },
    run<T>(limits: CallLimits, work: SqlServerWork<T>): Promise<T> {
      const abort = new AbortController();
      return withTimeLimit({ ...limits, cancel: () => abort.abort(), hintIfRunning }, async () =>
        queue.add(() => runOnce(work, abort.signal)),
      ).catch(translateError(rules));
    },
    close(): void {
      for (const { connection } of open) connection.close();
    },
  };
}

function beginSql(isolation: string): string {
  return `SET XACT_ABORT ON; SET LOCK_TIMEOUT 10000; SET TRANSACTION ISOLATION LEVEL ${isolation}; BEGIN TRANSACTION`;
}

function transactionOf(send: Send): SqlServerTransaction {
  return {
    query: (sql, maxRows) => send(sql, 'procedure', maxRows),
    async plan(sql) {
      await send('SET SHOWPLAN_XML ON', 'batch');
      const { rows } = await send(sql, 'batch', 1);
      await send('SET SHOWPLAN_XML OFF', 'batch');
      return rows.map(([xml]) => String(xml ?? '')).join('');
    },
  };
}
