/** The tokens of people who may see the rows of one region, and of one who may only read. */
export interface Tokens {
  readonly dach: string;
  readonly us: string;
  readonly reader: string;
}

interface Post {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly method?: string;
}

/** The bytes of a request whose connection is closed afterwards. */
export function request(body: string | Buffer, given: Post = {}): Buffer {
  const { token, headers = {}, path = '/mcp', method = 'POST' } = given;
  const all = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`),
    Buffer.from(body),
  ]);
}

export const message = (method: string, params: unknown = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
export const callTool = (name: unknown, args: unknown = {}) =>
  message('tools/call', { name, arguments: args });
export const revenue = callTool('query_metrics', {
  metrics: ['orders.revenue'],
  dimensions: ['orders.region'],
});
