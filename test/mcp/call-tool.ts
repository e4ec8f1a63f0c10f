export type ToolCall = readonly [tool: string, input: object];

/** Calls a tool with a token, by one request without an SDK. */
export async function callTool(
  { url, token }: { readonly url: string; readonly token: string },
  [name, args]: ToolCall,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  });
  return { status: response.status, text: await response.text() };
}
