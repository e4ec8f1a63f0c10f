import { findSteps, listedDataset } from '../../../context/catalog/find-steps.ts';
import { formatCount } from '../../../lib/format-count.ts';
import { findUnqueryableMetrics } from '../../../project/answer/visible-datasets.ts';
import type { Project } from '../../../project/open/open.ts';
import { type AnswerBasis, prepareAnswer } from '../../../project/prepared/prepared-answer.ts';
import type { SemanticModel } from '../../../semantic/model/model.ts';
import type { CommandResult, NextStep } from '../../command.ts';
import { resolveConnections } from './datasets.ts';

export interface ListedDatasets {
  /** Also raw, staging and intermediate ones. */
  readonly all: boolean;
  readonly connection: string | undefined;
}

/** Keeps its answer for the next time if there is a basis. */
export async function listDatasets(
  project: Project,
  asked: ListedDatasets,
  basis?: AnswerBasis,
): Promise<CommandResult> {
  const connections = resolveConnections(project, asked.connection);
  const list = () => listOf(project, connections, asked.all);
  return basis === undefined ? list() : prepareAnswer(basis, connections, list);
}

async function listOf(
  project: Project,
  connections: readonly string[],
  all: boolean,
): Promise<CommandResult> {
  const models = await Promise.all(
    connections.map(async (connection) => ({
      connection,
      ...(await project.model(connection)),
    })),
  );
  const hasOneConnection = connections.length === 1;
  const known = models.flatMap(({ connection, model }) => {
    const steps = findSteps([...model.datasets.values()].map(listedDataset));
    return [...model.datasets.keys()].map((name) => {
      const isListed = all || !steps.has(name);
      return { connection, model, name, isListed };
    });
  });
  const datasets = known.filter(({ isListed }) => isListed);
  const leftOut = known.filter(({ isListed }) => !isListed).map(({ name }) => name);
  const rows = datasets.map(({ connection, model, name }) => [
    ...(hasOneConnection ? [] : [connection]),
    name,
    metricsText(model, name),
    joinsText(model, name),
  ]);
  const columns = [...(hasOneConnection ? [] : ['connection']), 'dataset', 'metrics', 'joins'].map(
    (name) => ({ name }),
  );
  const excluded = models.reduce((sum, { model }) => sum + model.excluded.size, 0);
  const hasProblems = models.some(({ diagnostics }) => diagnostics.length > 0);
  const [first] = datasets;
  const connectionFlag = hasOneConnection ? '' : ` --connection ${first?.connection ?? ''}`;
  const next: NextStep =
    first === undefined
      ? ['ktx ingest']
      : [hasProblems ? 'ktx sl validate' : `ktx sl read ${first.name}${connectionFlag}`];
  return {
    data: {
      ...(hasOneConnection ? { connection: connections[0] } : { connections }),
      columns,
      rows,
      datasets: datasets.map(({ connection, model, name }) => ({
        connection,
        dataset: name,
        metrics: queryableMetrics(model, name),
        joins: (model.datasets.get(name)?.relationships ?? []).map(({ to, name: role }) => ({
          to,
          role,
        })),
      })),
      left_out: leftOut,
    },
    table: { columns, rows },
    notes: [
      ...(leftOut.length === 0
        ? []
        : [
            `${formatCount(leftOut.length, 'raw, staging or intermediate dataset')} not listed: ktx sl list --all`,
          ]),
      ...(excluded === 0 ? [] : [`${formatCount(excluded, 'invalid dataset')} left out`]),
    ],
    next: [next],
  };
}

function queryableMetrics(model: SemanticModel, dataset: string): readonly string[] {
  const unqueryable = findUnqueryableMetrics(model, dataset);
  return [...(model.datasets.get(dataset)?.metrics.values() ?? [])]
    .filter(({ name, hidden }) => !hidden && !unqueryable.has(name))
    .map(({ name }) => name);
}

function metricsText(model: SemanticModel, dataset: string): string {
  const metrics = [...(model.datasets.get(dataset)?.metrics.values() ?? [])];
  const unqueryable = findUnqueryableMetrics(model, dataset);
  return metrics
    .filter(({ hidden }) => !hidden)
    .map(({ name }) => (unqueryable.has(name) ? `${name} (not yet queryable)` : name))
    .join(', ');
}

function joinsText(model: SemanticModel, dataset: string): string {
  const relationships = model.datasets.get(dataset)?.relationships ?? [];
  return relationships.map(({ name, to }) => (name === to ? to : `${name}: ${to}`)).join(', ');
}
