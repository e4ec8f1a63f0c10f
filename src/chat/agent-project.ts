import { UserError } from '../lib/error.ts';
import type { Project } from '../project/open/open.ts';
import type { Agent } from './agent.ts';

/** The project as far as the agent may see it: its warehouses, and its limit of rows. */
export function agentProject(project: Project, { name, context, limits }: Agent): Project {
  const { connections = project.warehouses } = context;
  const unknown = connections.find((each) => !project.warehouses.includes(each));
  if (unknown !== undefined) {
    const hint = `one of ${project.warehouses.join(', ') || 'none: ktx connection add'}`;
    throw new UserError(
      'agent_invalid',
      `agents/${name}.yaml: ktx.yaml has no warehouse ${unknown}.`,
      { hint, exitCode: 2 },
    );
  }
  const { query } = project.config;
  const [only] = connections.length === 1 ? connections : [];
  const connection: Project['connection'] = (wanted = only) => {
    if (wanted === undefined || connections.includes(wanted)) return project.connection(wanted);
    const options = {
      hint: `one of ${connections.join(', ')}`,
      exitCode: 2,
      details: { choices: connections },
    } as const;
    throw new UserError('connection_unknown', `This agent has no connection ${wanted}.`, options);
  };
  return {
    ...project,
    warehouses: [...connections],
    connection,
    config: {
      ...project.config,
      query: { ...query, max_rows: Math.min(query.max_rows, limits.max_rows ?? query.max_rows) },
    },
  };
}
