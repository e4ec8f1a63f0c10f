import type { LoopTools } from '../ingest/loop-tools.ts';
import { newId } from '../lib/id.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../llm/port/runtime.ts';
import type { Project } from '../project/open/open.ts';
import { appendToLog } from '../store/log.ts';
import type { LoopTool } from './loop-tool.ts';
import { loopRegistry } from './loop-registry.ts';

/**
 * The registry's tools for the model loops of an ingest. Each call is logged, like the calls of
 * agents.
 */
export function loopTools(project: Project): LoopTools {
  const toolSet = <Session>(
    tools: readonly LoopTool<Session>[],
    session: Session,
    signal: AbortSignal,
  ): KtxToolSet => {
    const offered = tools.filter((tool) => tool.offered?.(project) ?? true);
    const context = { session, project, signal };
    return Object.fromEntries(
      offered.map((tool) => [tool.name, logCalls(project, describeTool(tool, context))]),
    );
  };
  return {
    extract: (session, signal) => toolSet(loopRegistry.extract, session, signal),
    curate: (session, signal) => toolSet(loopRegistry.curate, session, signal),
    reconcile: (session, signal) => toolSet(loopRegistry.reconcile, session, signal),
  };
}

function describeTool<Session>(
  tool: LoopTool<Session>,
  context: { session: Session; project: Project; signal: AbortSignal },
): KtxRuntimeToolDescriptor {
  const { name, description, inputSchema } = tool;
  const execute = (input: unknown) => tool.run(input, context);
  return { name, description, inputSchema, execute };
}

function logCalls(project: Project, tool: KtxRuntimeToolDescriptor): KtxRuntimeToolDescriptor {
  return {
    ...tool,
    async execute(input) {
      const started = performance.now();
      const log = (outcome: object) => {
        const ms = Math.round(performance.now() - started);
        const call = { run: project.runId, call: newId('q'), tool: tool.name, input, ms };
        appendToLog(project.dir, 'tools', { ...call, ...outcome });
      };
      try {
        const answer = await tool.execute(input);
        log({});
        return answer;
      } catch (error) {
        log({ error: { message: error instanceof Error ? error.message : String(error) } });
        throw error;
      }
    },
  };
}
