import { openAuditLog } from '../../src/mcp/audit/audit-log.ts';

// A server of its own: appends calls to the audit of a project, a few at a time, and prints the
// name of each that is on record, or the error.
const [dir = '', prefix = '', count = '0', length = '0'] = process.argv.slice(2);
using audit = openAuditLog(dir, process.env);
for (let next = 0; next < Number(count); next += 3) {
  const batch = [next, next + 1, next + 2].filter((number) => number < Number(count));
  await Promise.all(
    batch.map(async (number) => {
      const call = `${prefix}${number}`;
      const entry = {
        kind: 'answered',
        call,
        client: 'writer'.padEnd(Number(length)),
        tool: 'run_sql',
      } as const;
      const outcome = await audit.append({ ...entry, outcome: 'ok' }).then(
        () => call,
        (error: unknown) => String(error),
      );
      process.stdout.write(`${outcome}\n`);
    }),
  );
}
