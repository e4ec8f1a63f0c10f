import { untrustedBlock } from '../lib/untrusted.ts';
import { readPrompt } from '../llm/prompt.ts';
import type { Project } from '../project/open/open.ts';
import type { Agent } from '../project/agents/agent.ts';

/** Characters of the list of tables, for an agent that gets nothing else. */
const longestTableList = 60_000;

/** The system prompt of an agent. */
export async function systemPrompt(project: Project, agent: Agent): Promise<string> {
  const warehouses = project.warehouses.map(
    (name) => `${name} (${project.connection(name).config.driver})`,
  );
  const instructions =
    agent.instructions === undefined
      ? ''
      : `The person who set you up says:\n\n${agent.instructions.trim()}`;
  const prompt = readPrompt('agent', {
    today: new Date().toISOString().slice(0, 10),
    warehouses: warehouses.join(', ') || 'none yet',
    method: await methodText(project, agent),
    instructions,
  });
  return prompt.trim();
}

const sqlAllowed =
  'Use run_sql only for what no metric and no aggregate of query_metrics can express. Then say that no definition stands behind the number.';
const metricsOnly =
  'There is no way around the semantic layer: what it cannot answer, you cannot answer.';

async function methodText(project: Project, { context }: Agent): Promise<string> {
  switch (context.semantic_layer) {
    case 'preferred':
      return readPrompt('agent-context', { sql: sqlAllowed });
    case 'required':
      return readPrompt('agent-context', { sql: metricsOnly });
    case 'off': {
      const tables = untrustedBlock('tables', await tableList(project));
      return readPrompt('agent-sql', { tables });
    }
    default:
      return context.semantic_layer satisfies never;
  }
}

async function tableList(project: Project): Promise<string> {
  const catalogs = await Promise.all(
    project.warehouses.map(async (warehouse) => ({
      warehouse,
      tables: (await project.catalog(warehouse))?.tables ?? [],
    })),
  );
  const lines = catalogs.flatMap(({ warehouse, tables }) =>
    tables.map(({ schema, table, columns }) => {
      const prefix = catalogs.length > 1 ? `${warehouse}: ` : '';
      const columnList = columns.map((column) => `${column.name} ${column.nativeType}`).join(', ');
      return `${prefix}${schema}.${table}(${columnList})`;
    }),
  );
  const text = lines.join('\n');
  return text.length > longestTableList
    ? `${text.slice(0, longestTableList)}\n(more tables are left out)`
    : text;
}
