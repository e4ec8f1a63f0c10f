import { useState } from 'preact/hooks';
import type { DatasetList } from '../answers.ts';
import { useData } from '../data.ts';
import { Empty, Failure, Said, Title, Waiting } from '../parts/basics.tsx';
import { count } from '../parts/text.ts';
import { linkToSubject } from '../router.ts';

/** More rows than a person reads; the filter finds the others. */
const mostRows = 300;

export function DatasetsPage() {
  const { data, error } = useData<DatasetList>('datasets');
  const [filter, setFilter] = useState('');
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <Waiting />;
  const at = (name: string) => data.columns.findIndex((column) => column.name === name);
  const [place, own, metrics, joins] = ['connection', 'dataset', 'metrics', 'joins'].map(at);
  const words = filter.toLowerCase();
  const rows = data.rows.filter((row) => row.join(' ').toLowerCase().includes(words));
  const cell = (row: readonly string[], index = -1) => row[index] ?? '';
  return (
    <>
      <Title aside={<span class="soft">{count(data.rows.length, 'dataset')}</span>}>Datasets</Title>
      <input
        class="finder"
        type="search"
        aria-label="Filter the datasets"
        placeholder="Filter"
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      {rows.length === 0 ? <Empty>No dataset has that.</Empty> : null}
      <ul class="datasets">
        {rows.slice(0, mostRows).map((row) => {
          const connection = place === -1 ? (data.connection ?? '') : cell(row, place);
          const subject = `dataset:${connection}.${cell(row, own)}`;
          return (
            <li key={subject}>
              <a href={linkToSubject(subject)}>
                <Said>{cell(row, own)}</Said>
              </a>
              <span>
                <Said>{cell(row, metrics)}</Said>
              </span>
              <span class="soft">
                <Said>{cell(row, joins) === '' ? '' : `joins ${cell(row, joins)}`}</Said>
              </span>
            </li>
          );
        })}
      </ul>
      {rows.length > mostRows ? (
        <p class="soft">{count(rows.length - mostRows, 'more dataset')}: filter them.</p>
      ) : null}
    </>
  );
}
