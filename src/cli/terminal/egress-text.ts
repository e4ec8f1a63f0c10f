import { egressReport, type EgressGrouping, type EgressLine } from '../../llm/egress/report.ts';
import type { Project } from '../../project/open/open.ts';
import type { CommandResult } from '../command.ts';

/** The result of `ktx status --egress`: how many values went to which model. */
export function egressResult(project: Project, grouping: EgressGrouping): CommandResult {
  const lines = egressReport(project.egress().db, grouping);
  const next: CommandResult['next'] =
    grouping === 'column'
      ? [['ktx status --egress --by run', 'the same by run; also by stage, day and call']]
      : [['ktx status --egress', 'the same by column']];
  if (lines.length === 0)
    return { data: { egress: [] }, text: 'No value of a warehouse was sent to a model yet.' };
  const shown = columns.filter(({ key }) => lines.some((line) => line[key] !== undefined));
  return {
    data: { egress: lines },
    table: {
      columns: shown.map(({ name, type }) => ({ name, type })),
      rows: lines.map((line) => shown.map(({ key }) => line[key] ?? null)),
    },
    notes: [
      'Counts of values that were sent; the values themselves are not kept. scan.send_samples: false and llm.send_rows: off keep them on this machine.',
    ],
    next,
  };
}

const columns: readonly {
  readonly key: keyof EgressLine;
  readonly name: string;
  readonly type: string;
}[] = [
  { key: 'day', name: 'day', type: 'string' },
  { key: 'run', name: 'run', type: 'string' },
  { key: 'call', name: 'call', type: 'string' },
  { key: 'stage', name: 'stage', type: 'string' },
  { key: 'connection', name: 'connection', type: 'string' },
  { key: 'source', name: 'table', type: 'string' },
  { key: 'column', name: 'column', type: 'string' },
  { key: 'kind', name: 'kind', type: 'string' },
  { key: 'values', name: 'values', type: 'number' },
  { key: 'sent', name: 'times', type: 'number' },
  { key: 'backend', name: 'backend', type: 'string' },
  { key: 'host', name: 'host', type: 'string' },
  { key: 'last', name: 'last', type: 'string' },
];
