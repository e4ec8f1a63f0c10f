import {
  ResourceNotFoundError,
  type ListResourcesResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { untrustedMarks } from '../lib/untrusted.ts';
import type { Project } from '../project/open/open.ts';
import {
  renderVisibleDataset,
  readVisibleDatasets,
  type VisibleDataset,
} from '../project/answer/visible-datasets.ts';

const mimeType = 'application/yaml';

export const resourceTemplates = [
  {
    name: 'dataset',
    uriTemplate: 'ktx://dataset/{connection}/{name}',
    description: 'One dataset as YAML.',
    mimeType,
  },
];

/** Lists the valid datasets of every connection, sorted. */
export async function listResources(project: Project): Promise<ListResourcesResult> {
  const resources = (await allDatasets(project)).map((visible) => ({
    uri: uriOf(visible),
    name: `${visible.connection}.${visible.dataset.dataset}`,
    mimeType,
  }));
  return { resources };
}

/**
 * The YAML of a dataset. Untrusted marks in comments surround it, because descriptions can come
 * from the database.
 */
export async function readResource(project: Project, uri: string): Promise<ReadResourceResult> {
  const dataset = (await allDatasets(project)).find((candidate) => uriOf(candidate) === uri);
  if (dataset === undefined) throw new ResourceNotFoundError(uri);
  const { begin, end } = untrustedMarks(dataset.path);
  return {
    contents: [{ uri, mimeType, text: `# ${begin}\n${renderVisibleDataset(dataset)}# ${end}\n` }],
  };
}

async function allDatasets(project: Project): Promise<VisibleDataset[]> {
  const connections = project.warehouses.toSorted();
  return (
    await Promise.all(connections.map((connection) => readVisibleDatasets(project, connection)))
  ).flat();
}

function uriOf({ connection, dataset }: VisibleDataset): string {
  return `ktx://dataset/${connection}/${dataset.dataset}`;
}
