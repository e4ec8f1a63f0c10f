import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ListToolsResult, ReadResourceResult } from '@modelcontextprotocol/server';
import { appType } from './client-shows-apps.ts';

/** Where `npm run build:page` writes the apps, one file each. */
const folder = fileURLToPath(new URL('../../../dist/apps', import.meta.url));

/** The app that shows the answer of a tool, by the tool. */
const appOfTool: Readonly<Record<string, string>> = {
  query_metrics: 'answer',
  review_status: 'conflict',
};

const uriStart = 'ui://ktx/';

function fileOf(app: string): string {
  return join(folder, `${app}.html`);
}

/** True for an address of an app, whether there is one or not. */
export function isAppUri(uri: string): boolean {
  return uri.startsWith('ui://');
}

/** The app of that address; undefined if there is none. */
export function readApp(uri: string): ReadResourceResult | undefined {
  const app = Object.values(appOfTool).find((name) => uri === uriStart + name);
  if (app === undefined || !existsSync(fileOf(app))) return undefined;
  const text = readFileSync(fileOf(app), 'utf8');
  // Nothing is loaded from anywhere, so no address is named.
  const meta = { ui: { csp: {}, prefersBorder: false } };
  return { contents: [{ uri, mimeType: appType, text, _meta: meta }] };
}

type ToolForClient = ListToolsResult['tools'][number];

/** The tool with the app that shows its answers, if there is one. */
export function withApp(tool: ToolForClient): ToolForClient {
  const app = appOfTool[tool.name];
  if (app === undefined || !existsSync(fileOf(app))) return tool;
  return { ...tool, _meta: { ui: { resourceUri: uriStart + app } } };
}

/** A tool that only apps call: the client keeps it from its model. */
export function forApps(tool: ToolForClient): ToolForClient {
  return { ...tool, _meta: { ui: { visibility: ['app'] } } };
}
