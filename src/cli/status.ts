import { UserError } from '../lib/error.ts';
import type { ConnectionStatus } from '../project/status.ts';
import { defineCommand } from './command.ts';
import type { Screen } from './output.ts';

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
    const { connections, uncommitted } = data;
    const git =
      uncommitted === undefined
        ? 'no git repository'
        : uncommitted.length === 0
          ? 'all committed'
          : `not committed: ${uncommitted.join(', ')}`;
    const unreachable = connections.filter(({ reachable }) => reachable === false);
    const hint = unreachable.map(({ error }) => error?.hint).find((text) => text !== undefined);
    return {
      data,
      text: [data.dir, ...connections.flatMap((each) => describe(each, context.screen)), git].join('\n'),
      next: nextSteps(connections),
      ...(unreachable.length > 0 && {
        failure: new UserError('unreachable', `No answer from ${unreachable.map(({ connection }) => connection).join(', ')}.`, {
          hint,
          retryable: true,
        }),
      }),
    };
  },
});

function describe(found: ConnectionStatus, { style }: Screen): string[] {
  const { connection, driver, reachable, error, drift, ingested, datasets, metrics, relationships } = found;
  const answer = reachable === undefined ? '' : reachable ? style('green', ' reachable') : style('red', ` ${error?.message ?? ''}`);
  const fresh = drift === undefined ? '' : drift === 0 ? ', fresh' : `, ${drift} tables differ from the last ingest`;
  const layer = ingested ? `${datasets} datasets, ${metrics} metrics, ${relationships} relationships${fresh}` : 'not ingested yet';
  const login = (found.privileges ?? []).map((finding) => `  login: ${finding}`);
  return [`${connection} (${driver})${answer}: ${layer}`, ...login, ...found.invalid.map((problem) => `  ${style('yellow', problem)}`)];
}

function nextSteps(connections: readonly ConnectionStatus[]): readonly string[] {
  if (connections.length === 0) return ['ktx connection add <name> --driver duckdb --path <file>'];
  if (connections.some(({ ingested, drift }) => !ingested || (drift ?? 0) > 0)) return ['ktx ingest'];
  return connections.some(({ invalid }) => invalid.length > 0) ? ['ktx sl validate'] : ['ktx sl list'];
}
