import { useState } from 'preact/hooks';
import type { ComparedAnswer } from '../answers.ts';
import { useData } from '../data.ts';
import { Chip, Failure, Said, Waiting } from '../parts/basics.tsx';
import { cellText, count } from '../parts/text.ts';

interface RowDiffProps {
  readonly run: string;
  readonly id: string;
  /** From 1. */
  readonly attempt: number;
}

/** The rows that were expected beside those of the answer. The warehouse is asked on a click. */
export function RowDiff({ run, id, attempt }: RowDiffProps) {
  const [isWanted, want] = useState(false);
  if (isWanted) return <Compared run={run} id={id} attempt={attempt} />;
  return (
    <p class="actions">
      <button type="button" class="button" onClick={() => want(true)}>
        Compare the rows
      </button>
      <span class="soft">asks the warehouse for both: a run keeps no rows</span>
    </p>
  );
}

function Compared({ run, id, attempt }: RowDiffProps) {
  const asked = { run, case: id, attempt: String(attempt) };
  const { data, error } = useData<ComparedAnswer>('eval/diff', asked);
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <Waiting />;
  const { columns, rows, counts, unlisted, truncated } = data;
  return (
    <figure class="row-diff">
      <figcaption class="soft">
        {summaryOf(counts)}
        {counts.different > 0 ? ' Where a cell differs: expected → got.' : ''}
      </figcaption>
      <div class="scroll" tabIndex={0} role="region" aria-label="Rows expected and got">
        <table class="grid rows">
          <thead>
            <tr>
              <th scope="col">Row</th>
              {columns.map((column, index) => (
                <ColumnHead key={index} column={column} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <DiffRow key={index} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {unlisted > 0 ? <p class="soft">{count(unlisted, 'more row')} not listed.</p> : null}
      {truncated ? (
        <p class="soft">A result was cut off: what seems to be missing may be there.</p>
      ) : null}
    </figure>
  );
}

function summaryOf(counts: ComparedAnswer['counts']): string {
  const { same, different, missing, superfluous } = counts;
  const parts = [
    `${count(same, 'row')} as expected`,
    different > 0 ? `${different} different` : '',
    missing > 0 ? `${missing} missing` : '',
    superfluous > 0 ? `${superfluous} too many` : '',
  ];
  return `${parts.filter((part) => part !== '').join(', ')}.`;
}

function ColumnHead({ column }: { readonly column: ComparedAnswer['columns'][number] }) {
  const { expected, actual } = column;
  const isOther = expected !== undefined && actual !== undefined && expected !== actual;
  return (
    <th scope="col">
      <Said>{expected ?? actual ?? ''}</Said>
      {expected === undefined ? <small>not asked for</small> : null}
      {actual === undefined ? <small>not in the answer</small> : null}
      {isOther ? (
        <small>
          as <Said>{actual}</Said>
        </small>
      ) : null}
    </th>
  );
}

const words = {
  same: ['good', 'same'],
  different: ['warn', 'different'],
  missing: ['bad', 'missing'],
  superfluous: ['bad', 'too many'],
} as const;

function DiffRow({ row }: { readonly row: ComparedAnswer['rows'][number] }) {
  const { kind, expected, actual, differs } = row;
  const [tone, word] = words[kind];
  return (
    <tr class={`row-${kind}`}>
      <th scope="row">
        <Chip tone={tone}>{word}</Chip>
      </th>
      {differs.map((isOther, index) => (
        <td key={index} class={typeof (expected ?? actual)?.[index] === 'number' ? 'number' : ''}>
          {kind === 'different' && isOther ? (
            <>
              <span class="visually-hidden">expected </span>
              {cellText(expected?.[index])} <span aria-hidden="true">→</span>{' '}
              <b>
                <span class="visually-hidden">got </span>
                {cellText(actual?.[index])}
              </b>
            </>
          ) : (
            cellText((expected ?? actual)?.[index] ?? actual?.[index])
          )}
        </td>
      ))}
    </tr>
  );
}
