import { openReader } from './reader.ts';

/**
 * Creates a database file and runs a SQL script in it. `variables` are set first; the script reads
 * them with `getvariable`.
 */
export async function createDatabase(
  path: string,
  script: string,
  variables: Readonly<Record<string, number>>,
): Promise<void> {
  const reader = openReader({ path, options: {}, settings: [] });
  const setVariables = Object.entries(variables).map(
    ([name, value]) => `SET VARIABLE ${name} = ${value};\n`,
  );
  try {
    await reader.runScript(setVariables.join('') + script, {
      signal: new AbortController().signal,
      timeoutMs: scriptTimeoutMs,
    });
  } finally {
    await reader.close();
  }
}

const scriptTimeoutMs = 10 * 60_000;
