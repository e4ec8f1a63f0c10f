import { planScan, type ScanPlan } from '../../scan/plan-scan.ts';
import { scan, type ScanOptions, type ScanResult } from '../../scan/scan.ts';
import { loadColumnLabels, openCleanState } from '../open/column-labels.ts';
import { traceEmbeddings } from '../../llm/telemetry/trace-runtime.ts';
import type { Project } from '../open/open.ts';
import { openTrace } from './open-trace.ts';

type ScanRequest = { readonly connection: string } & Pick<
  ScanOptions,
  'ignoreDeclared' | 'budget' | 'signal' | 'onPlan' | 'onProgress'
>;

/** Scans one connection of the project. Profiles are kept in `.ktx`; nothing else is written. */
export async function scanProject(
  project: Project,
  { connection, ...options }: ScanRequest,
): Promise<ScanResult> {
  const { name, scope, history } = project.connection(connection);
  await project.trust.requireQueryLogs();
  const warehouse = await project.loginWarehouse(name, options.signal);
  const embeddings = await project.embeddings();
  const trace = embeddings && (await openTrace(project, 'scan', project.runId));
  const state = await openCleanState(project);
  try {
    const { dir, config } = project;
    const labels = await loadColumnLabels(dir, name);
    const settings = { config: config.scan, history, labels, dir };
    const port = embeddings && traceEmbeddings(embeddings, trace);
    return await scan({ warehouse, scope, state, embeddings: port, ...settings, ...options });
  } finally {
    state.close();
    embeddings?.close();
    await trace?.[Symbol.asyncDispose]();
  }
}

/** What a scan of the connection would read. Reads no row, and writes nothing. */
export async function planProjectScan(
  project: Project,
  { connection, budget, signal }: Pick<ScanRequest, 'connection' | 'budget' | 'signal'>,
): Promise<ScanPlan> {
  const { name, scope } = project.connection(connection);
  const warehouse = await project.loginWarehouse(name, signal);
  const state = await openCleanState(project);
  try {
    const { dir, config } = project;
    const labels = await loadColumnLabels(dir, name);
    return await planScan({ warehouse, scope, state, config: config.scan, labels, budget, signal });
  } finally {
    state.close();
  }
}
