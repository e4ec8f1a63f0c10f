import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { join } from 'node:path';
import { chromium as playwright, type Frame, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { build, type Rollup } from 'vite';
import { z } from 'zod';
import { chromium } from '../support/browser.ts';

const root = join(import.meta.dirname, '../..');

/** What a client that shows apps says of itself. */
const showsApps = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

/** A client of `ktx mcp serve` over stdio, which ends with the test. */
export async function connectStdio(dir: string, capabilities: object = showsApps): Promise<Client> {
  const client = new Client({ name: 'host', version: '1' }, { capabilities });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(root, 'src/cli/main.ts'), 'mcp', 'serve', '--project-dir', dir],
      env: process.env as Record<string, string>,
      stderr: 'ignore',
    }),
  );
  onTestFinished(() => client.close());
  return client;
}

const toolMeta = z.object({
  ui: z.object({
    resourceUri: z.string().optional(),
    visibility: z.array(z.string()).optional(),
  }),
});

/** The tools that only apps may call, and the app that shows the answers of a tool. */
async function listForHost(client: Client) {
  const { tools } = await client.listTools();
  const metaOf = (tool: (typeof tools)[number] | undefined) =>
    toolMeta.safeParse(tool?.['_meta']).data?.ui;
  const isForApp = (tool: (typeof tools)[number]) => metaOf(tool)?.visibility?.join() === 'app';
  return {
    forApp: tools.filter(isForApp).map(({ name }) => name),
    appOf: (name: string) => metaOf(tools.find((tool) => tool.name === name))?.resourceUri,
  };
}

/** The host's side of an app, from the package of the protocol. */
const hostScript = `
  import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
  window.showApp = async ({ html, result, theme }) => {
    const frame = document.querySelector('iframe');
    const bridge = new AppBridge(null, { name: 'host', version: '1' },
      { serverTools: {}, openLinks: {} }, { hostContext: { theme } });
    bridge.oncalltool = (params) => window.callTool(params);
    bridge.onopenlink = async ({ url }) => { window.opened = url; return {}; };
    bridge.onsizechange = ({ height }) => { frame.style.height = height + 'px'; };
    const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
    await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
    frame.srcdoc = html;
    await ready;
    window.sendResult = (again) => bridge.sendToolResult(again);
    await bridge.sendToolResult(result);
  };`;

async function bundleHost(): Promise<string> {
  const id = '\0host';
  const output = (await build({
    configFile: false,
    root,
    logLevel: 'silent',
    plugins: [
      {
        name: 'host',
        resolveId: (name) => (name === 'host' ? id : undefined),
        load: (name) => (name === id ? hostScript : undefined),
      },
    ],
    build: { write: false, rolldownOptions: { input: 'host' }, minify: false },
  })) as Rollup.RollupOutput;
  return output.output[0].code;
}

interface ShownApp {
  readonly tab: Page;
  readonly frame: Frame;
  /** Console errors, defects, and requests of any kind. */
  readonly problems: string[];
  /** The tools that the app called. */
  readonly called: { readonly name: string; readonly arguments?: unknown }[];
}

interface AppToShow {
  readonly client: Client;
  readonly tool: string;
  readonly input?: Record<string, unknown>;
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
}

/** Calls a tool, and shows its answer in its app, as a host does. */
export async function showApp(asked: AppToShow): Promise<ShownApp> {
  const { client, tool, input = {}, width = 720, theme = 'light' } = asked;
  const listed = await listForHost(client);
  const uri = listed.appOf(tool) ?? '';
  const { contents } = await client.readResource({ uri });
  const [content] = contents;
  const html = content !== undefined && 'text' in content ? content.text : '';
  const result = await client.callTool({ name: tool, arguments: input });
  const browser = await playwright.launch({
    executablePath: chromium,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  onTestFinished(() => browser.close());
  const tab = await browser.newPage({ viewport: { width, height: 900 } });
  const problems: string[] = [];
  const called: ShownApp['called'] = [];
  tab.on('console', (message) => {
    // The package tells each message that it takes.
    if (message.type() !== 'debug') problems.push(`console: ${message.text()}`);
  });
  tab.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  const code = await bundleHost();
  await tab.route('**/*', (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/host.js')
      return route.fulfill({ contentType: 'text/javascript', body: code });
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: hostPage });
    problems.push(`left: ${route.request().url()}`);
    return route.abort();
  });
  await tab.exposeFunction(
    'callTool',
    async (params: { name: string; arguments?: Record<string, unknown> }) => {
      called.push(params);
      if (!listed.forApp.includes(params.name)) throw new Error('not for apps');
      return client.callTool(params);
    },
  );
  await tab.goto('http://host.test/');
  await tab.waitForFunction('window.showApp !== undefined');
  await tab.evaluate(`window.showApp(${JSON.stringify({ html, result, theme })})`);
  const frame = tab.frames().find((own) => own.parentFrame() !== null);
  if (frame === undefined) throw new Error('There is no frame.');
  await expect.poll(() => frame.locator('#main > *').count()).toBeGreaterThan(0);
  return { tab, frame, problems, called };
}

// The frame has no origin: it can only send messages.
const hostPage = `<!doctype html><title>host</title><body>
  <iframe sandbox="allow-scripts" style="width: 100%; border: 0"></iframe>
  <script type="module" src="/host.js"></script>`;
