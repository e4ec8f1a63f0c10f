import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openShop, type Shop } from '../mcp/shop.ts';
import { type ModelCase, type ModelEndpoint, openModelEndpoint } from './model-endpoint.ts';
import type { Script } from './model-script.ts';

/** A project in git on a real database, whose model is a script. */
export interface AskedProject {
  readonly dir: string;
  readonly endpoint: ModelEndpoint;
  /**
   * From now on the script answers, with a model of its own. `agent` is the rest of
   * `agents/analyst.yaml`, `llm` that of `llm`.
   */
  playing(script: Script, agent?: string, llm?: string): ModelCase;
  close(): Promise<void>;
}

export async function openAskedProject(): Promise<AskedProject> {
  const endpoint = await openModelEndpoint();
  const shop: Shop = await openShop('sqlite');
  let models = 0;
  process.env['ASK_TEST_KEY'] = 'made-up';
  mkdirSync(join(shop.dir, 'agents'), { recursive: true });
  return {
    dir: shop.dir,
    endpoint,
    playing(script, agent, rest = '') {
      const model = `claude-ask-${(models += 1)}`;
      const provider = `{backend: anthropic, anthropic: {api_key: env:ASK_TEST_KEY, base_url: "${endpoint.url}/v1"}}`;
      const llm = `llm:\n  provider: ${provider}\n  models: {default: ${model}}\n  prices: {${model}: {input: 3, output: 15}}\n${rest === '' ? '' : `  ${rest}\n`}`;
      writeFileSync(
        join(shop.dir, 'ktx.yaml'),
        `connections:\n  shop: {driver: sqlite, path: shop.sqlite}\n${llm}`,
      );
      if (agent !== undefined)
        writeFileSync(join(shop.dir, 'agents/analyst.yaml'), `name: analyst\n${agent}\n`);
      return endpoint.start(script, model);
    },
    async close() {
      delete process.env['ASK_TEST_KEY'];
      shop.remove();
      await endpoint.close();
    },
  };
}
