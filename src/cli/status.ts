import { UserError } from '../lib/error.ts';
import type { ConnectionStatus } from '../project/status.ts';
import { defineCommand } from './command.ts';
import { counted, type Screen } from './output.ts';

export const status = defineCommand({
  description: 'What is configured, reachable and fresh, what the semantic layer holds, and what is not committed.',
  examples: [
    ['ktx status', 'asks every warehouse'],
    ['ktx status --fast', 'asks no warehouse'],
  ],
  define: (command) => command.option('--fast', 'make no slow call'),
  async run({ options }, context) {
    const project = await context.project();
    const { projectStatus } = await import('../project/status.ts');
    context.progress.update('asking the warehouses');
    const data = await projectStatus(project, options.fast === true, context.signal);
    const { dir, connections, uncommitted } = data;
    const files = uncommitted?.length === 0 ? 'all committed' : `not committed: ${uncommitted?.join(', ')}`;
    const git = uncommitted === undefined ? 'no git repository' : files;
    const lines = connections.flatMap((each) => describe(each, context.screen));
    return { data, text: [dir, ...lines, git].join('\n'), next: nextSteps(connections), failure: unreachable(connections) };
  },
});

/** The first cause decides the code; every connection says its own. */
function unreachable(connections: readonly ConnectionStatus[]): UserError | undefined {
  const causes = connections.flatMap(({ connection, error }) => (error === undefined ? [] : [{ ...error, connection }]));
  const [first] = causes;
  const messages = causes.map(({ connection, message }) => `${connection}: ${message}`);
  return first && new UserError(first.code, messages.join('\n'), first);
}

function describe(found: ConnectionStatus, { style }: Screen): string[] {
  const { connection, driver, reachable, drift, ingested, datasets, metrics, relationships } = found;
  const silence = reachable === false ? style('red', ' no answer') : '';
  const answer = reachable === true ? style('green', ' reachable') : silence;
  const fresh = drift === 0 ? ', fresh' : `, ${counted(drift ?? 0, 'table')} changed since the last ingest`;
  const counts = `${counted(datasets, 'dataset')}, ${counted(metrics, 'metric')}, ${counted(relationships, 'relationship')}${drift === undefined ? '' : fresh}`;
  const login = (found.privileges ?? []).map((finding) => `  login: ${finding}`);
  const problems = found.invalid.map((problem) => `  ${style('yellow', problem)}`);
  return [`${connection} (${driver})${answer}: ${ingested ? counts : 'not ingested yet'}`, ...login, ...problems];
}

function nextSteps(connections: readonly ConnectionStatus[]): readonly string[] {
  if (connections.length === 0) return ['ktx connection add <name> --driver duckdb --path <file>'];
  if (connections.some(({ ingested, drift = 0 }) => !ingested || drift > 0)) return ['ktx ingest'];
  return connections.some(({ invalid }) => invalid.length > 0) ? ['ktx sl validate'] : ['ktx sl list'];
}
