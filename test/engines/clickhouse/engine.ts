import { createRequire } from 'node:module';

/** The parts of chDB that the server uses. The package is installed only for these tests. */
export interface EngineSession {
  queryAsync(sql: string, options: { readonly format: string }): Promise<EngineAnswer>;
  close(): void;
}
interface EngineAnswer {
  text(): string;
}

const require = createRequire(import.meta.url);

/** Whether the engine is installed: `npm run test:clickhouse` does it. */
export function isInstalled(): boolean {
  try {
    require.resolve('chdb');
    return true;
  } catch {
    return false;
  }
}

/** Opens sessions on one data folder. Sessions run beside each other and share nothing but data. */
export function openEngine(folder: string): () => EngineSession {
  const { Session } = require('chdb') as { Session: new (path: string) => EngineSession };
  return () => new Session(folder);
}

/** Runs a statement without an answer, such as SET or CREATE. */
export async function execute(session: EngineSession, sql: string): Promise<void> {
  await session.queryAsync(sql, { format: 'Null' });
}

export async function readLines(session: EngineSession, sql: string): Promise<readonly string[]> {
  const answer = await session.queryAsync(sql, { format: 'TSVRaw' });
  return answer.text().split('\n').filter(Boolean);
}

/** A text as a literal of the engine. */
export function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
}
