import { join } from 'node:path';
import { ResourceNotFoundError, type ListResourcesResult, type ReadResourceResult } from '@modelcontextprotocol/server';
import { untrustedMarks } from '../lib/untrusted.ts';
import type { Project } from '../project/project.ts';
import { readText } from '../store/files.ts';
import { datasetFiles } from '../tools/model-files.ts';

const pageSize = 500;
const mimeType = 'application/yaml';

export const resourceTemplates = [
  { name: 'dataset', uriTemplate: 'ktx://dataset/{connection}/{name}', description: 'One dataset as YAML.', mimeType },
];

/** Datasets of every connection, sorted, in pages; the cursor is the last URI of the page before. */
export async function listResources(project: Project, cursor?: string): Promise<ListResourcesResult> {
  const connections = Object.keys(project.config.connections).sort();
  const files = await Promise.all(connections.map((connection) => datasetFiles(project.dir, connection)));
  const resources = files.flat().map(({ path }) => {
    const [, connection = '', name = ''] = /^semantic-layer\/([^/]+)\/(.+)\.ya?ml$/.exec(path) ?? [];
    return { name: `${connection}.${name}`, uri: `ktx://dataset/${connection}/${encodeURIComponent(name)}`, mimeType };
  });
  const rest = resources.filter(({ uri }) => cursor === undefined || uri > cursor).sort((a, b) => (a.uri < b.uri ? -1 : 1));
  const page = rest.slice(0, pageSize);
  return { resources: page, ...(rest.length > pageSize ? { nextCursor: page.at(-1)?.uri } : {}) };
}

/** The file between untrusted marks in YAML comments: descriptions come from the database too. */
export async function readResource(project: Project, uri: string): Promise<ReadResourceResult> {
  const [, connection, name] = /^ktx:\/\/dataset\/([a-z][a-z0-9_-]*)\/([A-Za-z0-9_]+)$/.exec(uri) ?? [];
  const path = `semantic-layer/${connection}/${name}.yaml`;
  const text = name === undefined ? undefined : await readText(join(project.dir, path), project.dir);
  if (text === undefined) throw new ResourceNotFoundError(uri);
  const { begin, end } = untrustedMarks(path);
  return { contents: [{ uri, mimeType, text: `# ${begin}\n${text.trimEnd()}\n# ${end}\n` }] };
}
