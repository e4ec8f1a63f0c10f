import { createConnection } from 'mysql2/promise';
import { connectableSettings } from './connection/connectable-settings.ts';
import type { MysqlSettings } from './settings.ts';

export type WatchdogMessage =
  | { readonly settings: MysqlSettings }
  | { readonly started: number }
  | { readonly ended: number };

/** The server has this long to end the statements. */
const lastWordMs = 5000;
const running = new Set<number>();
let settings: MysqlSettings | undefined;

process.on('message', (message: WatchdogMessage) => {
  if ('settings' in message) settings = message.settings;
  else if ('started' in message) running.add(message.started);
  else running.delete(message.ended);
});
// The channel breaks when the process that started this one is gone.
process.on('disconnect', () => {
  setTimeout(() => process.exit(), lastWordMs).unref();
  void endStatements();
});

async function endStatements(): Promise<void> {
  if (settings === undefined || running.size === 0) return;
  const connection = await createConnection({
    ...connectableSettings(settings),
    connectTimeout: lastWordMs,
  });
  connection.on('error', () => undefined);
  // A statement that has just ended is unknown to the server.
  for (const thread of running)
    await connection.query(`KILL CONNECTION ${thread}`).catch(() => undefined);
  await connection.end();
}
