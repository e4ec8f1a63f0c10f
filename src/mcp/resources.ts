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

/** The valid datasets of every connection, sorted. */
export async function listResources(project: Project): Promise<ListResourcesResult> {
  const resources = (await datasets(project)).map((each) => ({
    uri: uriOf(each),
    name: `${each.connection}.${each.dataset.dataset}`,
    mimeType,
  }));
  return { resources };
}

/** The dataset between untrusted marks in YAML comments: descriptions come from the database too. */
export async function readResource(project: Project, uri: string): Promise<ReadResourceResult> {
  const found = (await datasets(project)).find((each) => uriOf(each) === uri);
  if (found === undefined) throw new ResourceNotFoundError(uri);
  const { begin, end } = untrustedMarks(found.path);
  return {
    contents: [{ uri, mimeType, text: `# ${begin}\n${renderVisibleDataset(found)}# ${end}\n` }],
  };
}

async function datasets(project: Project): Promise<VisibleDataset[]> {
  const connections = project.warehouses.toSorted();
  return (
    await Promise.all(connections.map((connection) => readVisibleDatasets(project, connection)))
  ).flat();
}

function uriOf({ connection, dataset }: VisibleDataset): string {
  return `ktx://dataset/${connection}/${dataset.dataset}`;
}
