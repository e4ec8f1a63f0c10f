import { untrustedBlock } from '../lib/untrusted.ts';
import { readPrompt } from '../llm/prompt.ts';
import type { Project } from '../project/open/open.ts';
import type { Agent } from './agent.ts';

/** Of tables and columns, where they are all that a model gets. */
const longestList = 60_000;

/** What the model is told before anything is asked. */
export async function systemPrompt(project: Project, agent: Agent): Promise<string> {
  const warehouses =
    project.warehouses
      .map((name) => `${name} (${project.connection(name).config.driver})`)
      .join(', ') || 'none yet';
  const instructions =
    agent.instructions === undefined
      ? ''
      : `The person who set you up says:\n\n${agent.instructions.trim()}`;
  const today = new Date().toISOString().slice(0, 10);
  return readPrompt('agent', {
    today,
    warehouses,
    method: await methodOf(project, agent),
    instructions,
  }).trim();
}

async function methodOf(project: Project, { context }: Agent): Promise<string> {
  const sql =
    'run_sql is for what no metric and no aggregate of query_metrics can express; say then that no definition stands behind the number.';
  const only =
    'There is no way around the semantic layer: what it cannot answer, you cannot answer.';
  switch (context.semantic_layer) {
    case 'preferred':
      return readPrompt('agent-context', { sql });
    case 'required':
      return readPrompt('agent-context', { sql: only });
    case 'off':
      return readPrompt('agent-sql', {
        tables: untrustedBlock('tables', await tableList(project)),
      });
    default:
      return context.semantic_layer satisfies never;
  }
}

async function tableList(project: Project): Promise<string> {
  const lists = await Promise.all(
    project.warehouses.map(async (name) => ({
      name,
      tables: (await project.catalog(name))?.tables ?? [],
    })),
  );
  const lines = lists.flatMap(({ name, tables }) =>
    tables.map(({ schema, table, columns }) => {
      const said = columns.map((column) => `${column.name} ${column.nativeType}`).join(', ');
      return `${lists.length > 1 ? `${name}: ` : ''}${schema}.${table}(${said})`;
    }),
  );
  const text = lines.join('\n');
  return text.length > longestList
    ? `${text.slice(0, longestList)}\n(more tables are left out)`
    : text;
}
