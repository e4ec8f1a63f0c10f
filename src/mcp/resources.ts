import {
  ProtocolError,
  ProtocolErrorCode,
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

const uriStart = 'ktx://dataset/';
const mimeType = 'application/yaml';

export const resourceTemplates = [
  {
    name: 'dataset',
    uriTemplate: `${uriStart}{connection}/{name}`,
    description: 'One dataset as YAML.',
    mimeType,
  },
];

const resourcesPerPage = 200;

/**
 * Lists the valid datasets of every connection, sorted, a page at a time. A cursor is the address
 * of the last dataset of the page before, so that a dataset that comes or goes moves no other.
 */
export async function listResources(
  project: Project,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString();
  if (cursor !== undefined && !after.startsWith(uriStart))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is not one of this list.');
  const resources = (await allDatasets(project))
    .map((visible) => ({
      uri: uriOf(visible),
      name: `${visible.connection}.${visible.dataset.dataset}`,
      mimeType,
    }))
    .toSorted((left, right) => (left.uri < right.uri ? -1 : 1))
    .filter(({ uri }) => uri > after);
  const page = resources.slice(0, resourcesPerPage);
  const last = page.at(-1)?.uri ?? '';
  return page.length === resources.length
    ? { resources: page }
    : { resources: page, nextCursor: Buffer.from(last).toString('base64url') };
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
  return `${uriStart}${connection}/${dataset.dataset}`;
}
