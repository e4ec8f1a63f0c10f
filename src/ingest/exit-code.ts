import type { ExitCode } from '../lib/error.ts';
import { isPartial } from './fetch/source-report.ts';
import { noCommitReasons } from './publish/commit-rendering.ts';
import type { IngestReport } from './report.ts';

type ReportWithoutExitCode = Omit<IngestReport, 'exitCode'>;

/**
 * 0 if everything was done, 3 if a part was not. If everything that was asked for failed: the exit
 * code of the failures, or 1 if they differ. 4 if a model provider refused the credentials.
 */
export function ingestExitCode(report: ReportWithoutExitCode): ExitCode {
  const { connections, sources, stages, meanings } = report;
  const failures = [...connections, ...sources].flatMap(({ failure }) => failure ?? []);
  const askedSources = sources.filter(({ items, failure }) => items ?? failure);
  const [first, ...others] = new Set(failures.map(({ exitCode }) => exitCode));
  if (first !== undefined && failures.length === connections.length + askedSources.length)
    return others.length === 0 ? first : 1;
  const modelFailures = [
    ...connections.flatMap(({ descriptions }) => descriptions?.failure ?? []),
    ...connections.flatMap(({ judgements }) => judgements?.failure ?? []),
    ...connections.flatMap(({ names }) => names?.failure ?? []),
    ...stages.flatMap((stage) => stage.failures),
    ...(meanings?.failure === undefined ? [] : [meanings.failure]),
  ];
  if (modelFailures.some(({ exitCode }) => exitCode === 4)) return 4;
  return failures.length + modelFailures.length > 0 || hasUnfinishedWork(report) ? 3 : 0;
}

function hasUnfinishedWork({
  connections,
  sources,
  stages,
  quarantined,
  leftAlone,
  commit,
  dryRun,
}: ReportWithoutExitCode): boolean {
  const isExpected = Object.values<string | undefined>(noCommitReasons).includes(commit.none);
  const isUncommitted = !dryRun && commit.none !== undefined && !isExpected;
  return (
    stages.some(({ pending }) => pending > 0) ||
    connections.some(
      ({ left, history, unreadFiles = [] }) =>
        left > 0 || history?.failure !== undefined || unreadFiles.length > 0,
    ) ||
    sources.some(({ items }) => items !== undefined && isPartial(items)) ||
    (!dryRun && quarantined.length > 0) ||
    leftAlone.length > 0 ||
    isUncommitted
  );
}
