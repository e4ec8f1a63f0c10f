import { projectPaths } from '../../store/directories.ts';
import type { SharedChain } from '../../store/shared/shared-chain.ts';
import type { CallLine } from './audit-line.ts';
import { type FoundLine, listAuditFiles, readAuditFile, readSharedAudit } from './read-audit.ts';

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
  chain?: SharedChain,
): Promise<readonly AuditedCall[]> {
  const { since = '' } = filter;
  const pieces = chain === undefined ? readFiles(dir, since) : readSharedAudit(chain);
  const calls = new Map<string, AuditedCall>();
  for await (const lines of pieces) {
    for (const { line } of lines) {
      if (line === undefined || line.at < since) continue;
      if (line.kind === 'resumed' || line.kind === 'pruned') continue;
      const { kind, prev: _, outcome = 'no answer', ...call } = line;
      // The order is that of the answers.
      if (kind === 'answered') calls.delete(call.call);
      calls.set(call.call, { ...call, outcome });
    }
  }
  return [...calls.values()].filter((call) => matches(call, filter)).slice(-filter.limit);
}

/** The lines of each file that has some of that day or later. */
async function* readFiles(dir: string, since: string): AsyncGenerator<readonly FoundLine[]> {
  const { audit: folder } = projectPaths(dir);
  for (const file of listAuditFiles(folder))
    if (file.name >= since) yield await readAuditFile(folder, file);
}

function matches(call: AuditedCall, { person, tool, outcome }: AuditFilter): boolean {
  return (
    (person === undefined || call.person === person) &&
    (tool === undefined || call.tool === tool) &&
    (outcome === undefined || call.outcome === outcome)
  );
}
