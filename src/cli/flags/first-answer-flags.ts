import { Option } from '@commander-js/extra-typings';
import { mcpClients } from '../clients/client-list.ts';
import type { FlagSettings } from './schema-flags.ts';

/** What follows a new connection. Without a flag, a person at a terminal is asked. */
export interface FirstAnswerFlags {
  readonly ingest?: boolean | undefined;
  readonly acceptMeasures?: boolean | undefined;
  readonly firstQuestion?: string | undefined;
  readonly mcpClient?: string | undefined;
}

export const firstAnswerFlags = (): readonly Option[] => [
  new Option('--ingest', 'then read the warehouse and write the semantic layer: ktx ingest'),
  new Option('--no-ingest', 'do not ask whether to read it now'),
  new Option('--accept-measures', 'accept the measures that the scan proposes: ktx review accept'),
  new Option('--no-accept-measures', 'do not ask about them'),
  new Option(
    '--first-question <question>',
    'then ask it: a metric, or a metric by a dimension, such as "orders.count by orders.status"; none asks nothing',
  ),
  new Option(
    '--mcp-client <name>',
    'then add the MCP server to this client: ktx mcp install',
  ).choices([...mcpClients.map(({ name }) => name), 'none']),
];

/** The values of those flags. */
export function readFirstAnswerFlags(options: FlagSettings): FirstAnswerFlags {
  const { ingest, acceptMeasures, firstQuestion, mcpClient } = options;
  return {
    ingest: typeof ingest === 'boolean' ? ingest : undefined,
    acceptMeasures: typeof acceptMeasures === 'boolean' ? acceptMeasures : undefined,
    firstQuestion: typeof firstQuestion === 'string' ? firstQuestion : undefined,
    mcpClient: typeof mcpClient === 'string' ? mcpClient : undefined,
  };
}
