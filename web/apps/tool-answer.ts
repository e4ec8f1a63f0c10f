import type { ApiError, Envelope } from '../api.ts';
import type { AppHost, ToolResult } from './host.ts';

/** What is the matter, from the text that a tool gives in place of an answer. */
export function failureOf({ content = [] }: ToolResult): ApiError {
  const text = content.map((block) => block.text ?? '').join('\n');
  const code = /^Error (\w+)/.exec(text)?.[1] ?? 'failed';
  // Marks around the message are for models.
  const lines = text.split('\n').filter((line) => !/^<\/?untrusted-/.test(line));
  return { code, message: lines.slice(1).join('\n') || text };
}

/** The data between the marks of an answer. */
export function dataOf({ structuredContent }: ToolResult): Readonly<Record<string, unknown>> {
  return structuredContent?.untrusted ?? {};
}

/** Calls a tool through the host, as the page asks a server. */
export async function askTool<Data>(
  host: AppHost,
  name: string,
  input: object,
): Promise<Envelope<Data>> {
  try {
    const result = await host.callTool(name, input);
    if (result.isError === true) return { ok: false, error: failureOf(result) };
    return { ok: true, data: dataOf(result) as Data };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, error: { code: 'host_refused', message } };
  }
}
