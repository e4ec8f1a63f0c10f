import type { LoopTools } from '../ingest/loop-tools.ts';
import { newId } from '../lib/id.ts';
import type { KtxRuntimeToolDescriptor, KtxToolSet } from '../llm/port/runtime.ts';
import type { Project } from '../project/open/open.ts';
import { appendToLog } from '../store/log.ts';
import type { LoopTool } from './loop-tool.ts';
import { registry } from './registry.ts';

/** The tools that the registry offers to the loops of an ingest; each call is recorded like one of an agent. */
export function loopTools(project: Project): LoopTools {
  const bound = <Session>(
    tools: readonly LoopTool<Session>[],
    session: Session,
    signal: AbortSignal,
  ): KtxToolSet =>
    Object.fromEntries(
      tools
        .filter((tool) => tool.offered?.(project) ?? true)
        .map((tool) => [tool.name, recorded(project, bind(tool, { session, project, signal }))]),
    );
  return {
    extract: (session, signal) => bound(registry.extract, session, signal),
    curate: (session, signal) => bound(registry.curate, session, signal),
    reconcile: (session, signal) => bound(registry.reconcile, session, signal),
  };
}

function bind<Session>(
  tool: LoopTool<Session>,
  context: { session: Session; project: Project; signal: AbortSignal },
): KtxRuntimeToolDescriptor {
  const { name, description, inputSchema } = tool;
  const execute = async (input: unknown) => {
    const answer = await tool.run(input, context);
    return typeof answer === 'string' ? { markdown: answer } : answer;
  };
  return { name, description, inputSchema, execute };
}

function recorded(project: Project, tool: KtxRuntimeToolDescriptor): KtxRuntimeToolDescriptor {
  return {
    ...tool,
    async execute(input) {
      const started = performance.now();
      const record = (outcome: object) => {
        const ms = Math.round(performance.now() - started);
        appendToLog(project.dir, 'tools', {
          run: project.runId,
          call: newId('q'),
          tool: tool.name,
          input,
          ms,
          ...outcome,
        });
      };
      try {
        const answer = await tool.execute(input);
        record({});
        return answer;
      } catch (error) {
        record({ error: { message: error instanceof Error ? error.message : String(error) } });
        throw error;
      }
    },
  };
}
