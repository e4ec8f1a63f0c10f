import startServer from '../test/support/postgres-server.ts';
import { killedAndResumed, openScanKilling } from '../test/scan/killed-scan.ts';

/**
 * `npm run soak:scan [-- <tables> [<kills>]]` kills scans of a large Postgres at random points and
 * lets the last one finish. Exits with 1 if the server says that a finished table was profiled
 * again. Then measures a scan after one table has changed.
 */
const tables = Number(process.argv[2] ?? 1000);
const kills = Number(process.argv[3] ?? 5);

let url = '';
const stop = await startServer({
  provide: (_: string, value: unknown) => void (url = String(value)),
} as Parameters<typeof startServer>[0]);
try {
  const killing = await openScanKilling(url, tables);
  try {
    const shares = Array.from({ length: kills }, () => Math.random()).sort((a, b) => a - b);
    const started = performance.now();
    const found = await killedAndResumed(killing, shares);
    const sum = (performance.now() - started) / 1000;
    console.log(`${tables} tables; killed with ${found.kills.join(', ')} of them finished`);
    console.log(
      `finished tables that were profiled again: ${found.repeated.length}; profiles in all: ${found.profiles}`,
    );
    console.log(
      `the scan that ended: ${found.resumed.profiled} profiled, ${found.resumed.reused} known; the next: ${found.again.queries} statements`,
    );
    console.log(
      `one changed table: ${found.changed.queries} statements, ${found.touching.length} of them over tables, ${found.strangers.length} without it`,
    );
    console.log(`${sum.toFixed(1)} s`);
    process.exitCode = found.repeated.length + found.strangers.length === 0 ? 0 : 1;
  } finally {
    await killing.close();
  }
} finally {
  await stop();
}
