import { UserError } from '../lib/error.ts';
import type { Project } from '../project/open/open.ts';
import type { Agent } from '../project/agents/agent.ts';

/** The project with only the warehouses that the agent may query, and with its row limit. */
export function restrictProject(project: Project, { name, context, limits }: Agent): Project {
  const { connections = project.warehouses } = context;
  const unknown = connections.find((connection) => !project.warehouses.includes(connection));
  if (unknown !== undefined) {
    const choices = project.warehouses.join(', ') || 'none: ktx connection add';
    const message = `agents/${name}.yaml: ktx.yaml has no warehouse ${unknown}.`;
    throw new UserError('agent_invalid', message, { hint: `one of ${choices}`, exitCode: 2 });
  }
  const { query } = project.config;
  const maxRows = Math.min(query.max_rows, limits.max_rows ?? query.max_rows);
  const isCuratedOnly = context.semantic_layer === 'required' && query.run_sql === 'on';
  const runSql = isCuratedOnly ? 'semantic_layer_only' : query.run_sql;
  const [defaultConnection] = connections.length === 1 ? connections : [];
  const connection: Project['connection'] = (wanted = defaultConnection) => {
    if (wanted === undefined || connections.includes(wanted)) return project.connection(wanted);
    throw new UserError('connection_unknown', `This agent has no connection ${wanted}.`, {
      hint: `one of ${connections.join(', ')}`,
      exitCode: 2,
      details: { choices: connections },
    });
  };
  return {
    ...project,
    warehouses: [...connections],
    connection,
    config: { ...project.config, query: { ...query, max_rows: maxRows, run_sql: runSql } },
  };
}
