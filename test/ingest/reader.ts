import { afterAll, beforeAll } from 'vitest';
import type { IngestModel } from '../../src/ingest/model.ts';
import { openSnapshot } from '../../src/ingest/project-snapshot.ts';
import { openProject } from '../../src/project/open/open.ts';
import { openJournal } from '../../src/store/journal.ts';
import { loopTools } from '../../src/tools/loop-tools.ts';
import { makeClaudeHome, type ClaudeHome } from '../support/claude-home.ts';
import { openRuntime } from '../support/llm-runtimes.ts';
import { openModelEndpoint, type ModelEndpoint } from '../support/model-endpoint.ts';
import { fail, type Script } from '../support/model-script.ts';

/** What loops read of a project that has nothing. */
export const nothingYet = openSnapshot({ connections: [], sources: [] }, new Map());

/**
 * For a test file: a model behind the Anthropic API that answers with a script, as the stages of an
 * ingest have it.
 */
export function scriptedReader() {
  let endpoint: ModelEndpoint;
  let machine: ClaudeHome;
  beforeAll(async () => {
    endpoint = await openModelEndpoint();
    machine = await makeClaudeHome(endpoint);
  });
  afterAll(async () => {
    await machine.remove();
    await endpoint.close();
  });
  /** The work, with what the project of that folder has paid for; and how many requests came. */
  return async <T>(
    dir: string,
    script: Script,
    work: (model: IngestModel) => Promise<T>,
  ): Promise<T & { readonly requests: number }> => {
    const before = endpoint.requests.length;
    endpoint.fallback = script;
    const project = await openProject(dir);
    const journal = openJournal(dir);
    const { runtime } = await openRuntime('anthropic', endpoint, { machine });
    try {
      const result = await work({
        runtime,
        journal,
        concurrency: 1,
        stepBudget: 8,
        tools: loopTools(project),
        send: project.config.scan,
      });
      return { ...result, requests: endpoint.requests.length - before };
    } finally {
      endpoint.fallback = () => fail('bad-request');
      journal.close();
      await runtime.close();
      await project.close();
    }
  };
}
