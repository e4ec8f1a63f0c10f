import type { RunTrace } from '../../llm/telemetry/run-trace.ts';
import type { Project } from '../open/open.ts';

/**
 * The spans of a run; undefined without an exporter. Throws unless a person has approved where they
 * go.
 */
export async function openTrace(
  { config, trust }: Project,
  command: 'ingest' | 'scan',
  run: string,
): Promise<RunTrace | undefined> {
  if (config.telemetry.exporter === 'none') return undefined;
  const secrets = await trust.requireTelemetry();
  const { openRunTrace } = await import('../../llm/telemetry/run-trace.ts');
  return openRunTrace({ config: config.telemetry, secrets, run, command });
}
