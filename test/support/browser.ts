import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/**
 * A Chromium of the system's, or of the variable that test tools agree on; undefined where there is
 * none.
 */
export const chromium = [
  process.env['CHROME_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

const messageSchema = z.looseObject({
  id: z.int().optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});
type Message = z.infer<typeof messageSchema>;

export interface Page {
  /** Addresses that the page asked for, its own first. */
  readonly requests: readonly string[];
  /** What stands in the console: errors, and what the page's policy refused. */
  readonly console: readonly string[];
  readonly send: (method: string, params?: object) => Promise<Record<string, unknown>>;
  /** The value of an expression in the page. */
  readonly evaluate: (expression: string) => Promise<unknown>;
}

/** Starts the browser, opens the address, waits until it is loaded, and hands it to `look`. */
export async function withPage<T>(address: string, look: (page: Page) => Promise<T>): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), 'ktx-test-browser-'));
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--no-first-run',
    '--remote-debugging-port=0',
  ];
  const child = spawn(
    chromium ?? 'chromium',
    [...flags, `--user-data-dir=${profile}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  try {
    const browser = await devtools(await addressIn(child.stderr));
    const { targetInfos } = z
      .looseObject({
        targetInfos: z.array(z.looseObject({ targetId: z.string(), type: z.string() })),
      })
      .parse(await browser.send('Target.getTargets'));
    const targetId = targetInfos.find(({ type }) => type === 'page')?.targetId;
    const { sessionId } = z
      .looseObject({ sessionId: z.string() })
      .parse(await browser.send('Target.attachToTarget', { targetId, flatten: true }));
    const page = pageOf(browser, sessionId);
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    const loaded = browser.next('Page.loadEventFired');
    await page.send('Page.navigate', { url: address });
    await loaded;
    return await look(page);
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function pageOf(browser: Awaited<ReturnType<typeof devtools>>, sessionId: string): Page {
  const [requests, said]: [string[], string[]] = [[], []];
  browser.listen(({ method, params = {} }) => {
    if (method === 'Network.requestWillBeSent')
      requests.push(z.looseObject({ url: z.string() }).parse(params['request']).url);
    if (method === 'Runtime.consoleAPICalled' || method === 'Runtime.exceptionThrown')
      said.push(JSON.stringify(params));
    if (method === 'Log.entryAdded')
      said.push(z.looseObject({ text: z.string() }).parse(params['entry']).text);
  });
  const send: Page['send'] = (method, params) => browser.send(method, params, sessionId);
  return {
    requests,
    console: said,
    send,
    async evaluate(expression) {
      const answer = await send('Runtime.evaluate', {
        expression,
        returnByValue: true,
        awaitPromise: true,
      });
      return z.looseObject({ value: z.unknown().optional() }).parse(answer['result']).value;
    },
  };
}

/** The protocol of the browser's developer tools. */
async function devtools(address: string) {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  const waiting = new Map<number, (message: Message) => void>();
  const listeners = new Set<(message: Message) => void>();
  let sent = 0;
  socket.addEventListener('message', ({ data }) => {
    const message = messageSchema.parse(JSON.parse(String(data)));
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    for (const listener of listeners) listener(message);
  });
  return {
    listen: (listener: (message: Message) => void) => void listeners.add(listener),
    next: (method: string) =>
      new Promise<void>((resolve) => {
        listeners.add((message) => void (message.method === method && resolve()));
      }),
    async send(
      method: string,
      params: object = {},
      sessionId?: string,
    ): Promise<Record<string, unknown>> {
      const id = (sent += 1);
      const answered = new Promise<Message>((resolve) => void waiting.set(id, resolve));
      socket.send(JSON.stringify({ id, method, params, sessionId }));
      const { result = {}, error } = await answered;
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
  };
}

/** The browser says where it listens. */
async function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const address = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error('the browser did not start');
}
