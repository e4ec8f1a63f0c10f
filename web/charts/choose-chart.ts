import type { Answer } from '../answers.ts';
import { cellText, numberOf } from '../parts/text.ts';

/** What a result looks like: chosen by the types of its columns and the number of its rows. */
export interface ChosenChart {
  readonly mark: 'bar' | 'line' | 'big_number';
  /** The name of the measure. */
  readonly title: string;
  readonly points: readonly { readonly label: string; readonly value: number | undefined }[];
}

const mostBars = 30;

/** Undefined if a table says it better. */
export function chooseChart({ columns, rows }: Answer): ChosenChart | undefined {
  const measure = columns.findIndex(({ kind }) => kind === 'metric');
  const dimensions = columns.flatMap(({ kind }, index) => (kind === 'dimension' ? [index] : []));
  const [dimension, ...others] = dimensions;
  const title = columns[measure]?.name ?? '';
  if (measure === -1 || others.length > 0) return undefined;
  if (dimension === undefined) {
    const value = numberOf(rows[0]?.[measure]);
    return value === undefined || rows.length !== 1
      ? undefined
      : { mark: 'big_number', title, points: [{ label: title, value }] };
  }
  const points = rows.map((row) => ({
    label: cellText(row[dimension]),
    value: numberOf(row[measure]),
  }));
  if (points.length < 2 || points.every(({ value }) => value === undefined)) return undefined;
  const isTime = columns[dimension]?.type?.startsWith('date') === true;
  if (isTime) return { mark: 'line', title, points };
  return points.length > mostBars ? undefined : { mark: 'bar', title, points };
}

/** The same for other tools, as Vega-Lite 6. */
export function toVegaLite({ mark, title, points }: ChosenChart): object {
  const [x, y] = ['label', 'value'];
  const encoding =
    mark === 'bar'
      ? {
          y: { field: x, type: 'nominal', sort: null },
          x: { field: y, type: 'quantitative', title },
        }
      : { x: { field: x, type: 'temporal' }, y: { field: y, type: 'quantitative', title } };
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    data: { values: points },
    mark: mark === 'big_number' ? 'text' : mark,
    encoding: mark === 'big_number' ? { text: { field: y, type: 'quantitative' } } : encoding,
  };
}
