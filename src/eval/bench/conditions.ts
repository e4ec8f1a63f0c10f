import type { Agent } from '../../project/agents/agent.ts';
import type { Project } from '../../project/open/open.ts';

/** Each has what those before it have, and one thing more. */
const conditionNames = ['schema', 'joins', 'semantic_layer', 'wiki', 'all'] as const;
export type ConditionName = (typeof conditionNames)[number];

/** What each condition gives an agent, for reports. */
export const conditionTexts: Readonly<Record<ConditionName, string>> = {
  schema: 'SQL, with the names of tables and columns',
  joins: 'and how the tables join',
  semantic_layer: 'and the semantic layer: metrics, datasets, search',
  wiki: 'and the wiki: terms, rules, prose',
  all: 'and the values of columns: all that the agent has',
};

export interface BenchCondition {
  readonly project: Project;
  readonly prepare: (agent: Agent) => Agent;
}

export async function openCondition(
  project: Project,
  name: ConditionName,
): Promise<BenchCondition> {
  switch (name) {
    case 'schema':
      return { project, prepare: withoutContext };
    case 'joins': {
      const joins = await joinLines(project);
      return { project, prepare: (agent) => withInstructions(withoutContext(agent), joins) };
    }
    case 'semantic_layer':
      return { project: { ...project, offersWiki: false }, prepare: withoutValues };
    case 'wiki':
      return { project, prepare: withoutValues };
    case 'all':
      return { project, prepare: (agent) => agent };
    default:
      return name satisfies never;
  }
}

function withoutContext(agent: Agent): Agent {
  return { ...agent, context: { ...agent.context, semantic_layer: 'off' } };
}

function withoutValues(agent: Agent): Agent {
  const { tools } = agent;
  return { ...agent, tools: { ...tools, deny: [...new Set([...tools.deny, 'find_values'])] } };
}

function withInstructions(agent: Agent, lines: readonly string[]): Agent {
  const own = agent.instructions === undefined ? [] : [agent.instructions.trim(), ''];
  const text = [...own, 'The tables join like this:', ...lines].join('\n');
  return { ...agent, instructions: text };
}

/** `orders.buyer_id = customers.id`, by the names of the datasets' tables. */
async function joinLines(project: Project): Promise<readonly string[]> {
  const models = await Promise.all(project.warehouses.map(async (name) => project.model(name)));
  return models.flatMap(({ model }) => {
    const tableOf = (dataset: string): string => {
      const relation = model.datasets.get(dataset)?.relation;
      return relation === undefined || relation.kind === 'query' || !('parts' in relation)
        ? dataset
        : relation.parts.join('.');
    };
    return [...model.datasets.values()].flatMap(({ name, relationships }) =>
      relationships
        .filter(({ equal }) =>
          equal.every(({ own, target }) => own !== undefined && target !== undefined),
        )
        .map(({ to, equal }) =>
          equal
            .map(({ own, target }) => `${tableOf(name)}.${own} = ${tableOf(to)}.${target}`)
            .join(' and '),
        ),
    );
  });
}
