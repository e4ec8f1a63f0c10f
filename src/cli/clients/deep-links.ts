import type { ClientEntry } from './client-list.ts';

interface NamedEntry {
  readonly name: string;
  readonly entry: ClientEntry;
}

/**
 * Addresses that open a client with the server filled in; a person confirms it there. `vscode.dev`
 * is the form for web pages.
 */
export function deepLinks(client: string, { name, entry }: NamedEntry): Record<string, string> {
  const config = JSON.stringify(entry);
  if (client === 'cursor') {
    const query = new URLSearchParams({ name, config: Buffer.from(config).toString('base64') });
    return { cursor: `cursor://anysphere.cursor-deeplink/mcp/install?${query.toString()}` };
  }
  const whole = encodeURIComponent(JSON.stringify({ name, ...entry }));
  const query = new URLSearchParams({ name, config });
  return {
    vscode: `vscode:mcp/install?${whole}`,
    'vscode.dev': `https://vscode.dev/redirect/mcp/install?${query.toString()}`,
  };
}
