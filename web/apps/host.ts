/** The program in whose frame an app is: it hands over answers, and calls tools for the app. */
export interface AppHost {
  readonly callTool: (name: string, input: object) => Promise<ToolResult>;
}

/** What a tool answered, as the host hands it over. */
export interface ToolResult {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: {
    readonly trust?: Readonly<Record<string, unknown>>;
    readonly untrusted?: Readonly<Record<string, unknown>>;
    readonly page?: { readonly truncated?: boolean; readonly next_cursor?: string };
  };
  readonly isError?: boolean;
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

interface HostContext {
  readonly theme?: unknown;
}

/** The revision of MCP Apps. */
const protocolVersion = '2026-01-26';

interface AppInput {
  readonly name: string;
  /** Called with each answer of the tool that the app belongs to. */
  readonly onResult: (result: ToolResult, host: AppHost) => void;
}

/** Speaks with the host by messages to the window around the frame, and with nobody else. */
export async function connectHost({ name, onResult }: AppInput): Promise<void> {
  const waiting = new Map<number, (message: Message) => void>();
  let sent = 0;
  const post = (message: Message): void => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  const request = (method: string, params: Readonly<Record<string, unknown>>) =>
    new Promise<unknown>((resolve, reject) => {
      const id = (sent += 1);
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(error.message ?? 'refused')),
      );
      post({ id, method, params });
    });
  const host: AppHost = {
    callTool: async (tool, input) =>
      (await request('tools/call', { name: tool, arguments: input })) as ToolResult,
  };
  addEventListener('message', ({ source, data }: MessageEvent<Message>) => {
    if (source !== parent || !(data instanceof Object)) return;
    const { id, method, params = {} } = data;
    if (method === undefined) return takeAnswer(waiting, data);
    if (id !== undefined) return post(answerTo(id, method));
    if (method === 'ui/notifications/tool-result') onResult(params, host);
    if (method === 'ui/notifications/host-context-changed') applyContext(params);
  });
  openLinksBy((url) => void request('ui/open-link', { url }).catch(() => undefined));
  const answer = await request('ui/initialize', {
    appCapabilities: {},
    appInfo: { name, version: '1' },
    protocolVersion,
  });
  if (answer instanceof Object && 'hostContext' in answer) applyContext(answer.hostContext);
  post({ method: 'ui/notifications/initialized', params: {} });
  reportSize((size) => post({ method: 'ui/notifications/size-changed', params: size }));
}

function takeAnswer(waiting: Map<number, (message: Message) => void>, message: Message): void {
  const id = Number(message.id);
  waiting.get(id)?.(message);
  waiting.delete(id);
}

/** A host asks whether the app is there, and says that it goes. */
function answerTo(id: number | string, method: string): Message {
  const isKnown = method === 'ping' || method === 'ui/resource-teardown';
  return isKnown ? { id, result: {} } : { id, error: { message: `There is no ${method}.` } };
}

/** Light or dark, as the conversation around it. */
function applyContext(context: unknown): void {
  const { theme }: HostContext = context instanceof Object ? context : {};
  if (theme === 'light' || theme === 'dark') document.documentElement.style.colorScheme = theme;
}

/** The frame opens nothing itself: the host asks its person. */
function openLinksBy(open: (url: string) => void): void {
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (link === null) return;
    event.preventDefault();
    if (link instanceof HTMLAnchorElement && /^https?:$/.test(link.protocol)) open(link.href);
  });
}

interface FrameSize {
  readonly [key: string]: unknown;
  readonly width: number;
  readonly height: number;
}

function reportSize(report: (size: FrameSize) => void): void {
  const measure = (): void => {
    const { width, height } = document.body.getBoundingClientRect();
    report({ width: Math.ceil(width), height: Math.ceil(height) });
  };
  new ResizeObserver(measure).observe(document.body);
}
