import { projectPaths } from '../../store/directories.ts';
import type { CallLine } from './audit-line.ts';
import { listAuditFiles, readAuditFile } from './read-audit.ts';

export interface AuditFilter {
  readonly person?: string | undefined;
  readonly tool?: string | undefined;
  readonly outcome?: string | undefined;
  /** The first day, as `2026-11-27`. */
  readonly since?: string | undefined;
  /** The most calls; the latest ones stay. */
  readonly limit: number;
}

/** A call, and what became of it: `no answer` if the server ended before it. */
export type AuditedCall = Omit<CallLine, 'kind' | 'prev' | 'outcome'> & {
  readonly outcome: string;
};

/** The calls of the audit, in the order of their answers. Checks nothing: see `verifyAudit`. */
export async function listAuditedCalls(
  dir: string,
  filter: AuditFilter,
): Promise<readonly AuditedCall[]> {
  const { audit: folder } = projectPaths(dir);
  const calls = new Map<string, AuditedCall>();
  for (const file of listAuditFiles(folder)) {
    if (filter.since !== undefined && file.name < filter.since) continue;
    for (const { line } of await readAuditFile(folder, file)) {
      if (line === undefined || line.kind === 'resumed') continue;
      const { kind, prev: _, outcome = 'no answer', ...call } = line;
      // The order is that of the answers.
      if (kind === 'answered') calls.delete(call.call);
      calls.set(call.call, { ...call, outcome });
    }
  }
  return [...calls.values()].filter((call) => matches(call, filter)).slice(-filter.limit);
}

function matches(call: AuditedCall, { person, tool, outcome }: AuditFilter): boolean {
  return (
    (person === undefined || call.person === person) &&
    (tool === undefined || call.tool === tool) &&
    (outcome === undefined || call.outcome === outcome)
  );
}
