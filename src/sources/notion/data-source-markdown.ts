import { canonicalJson, isRecord } from '../../lib/json.ts';
import { markdownHeading, markdownLines, markdownTable } from '../documents/markdown-text.ts';
import {
  type NotionDataSource,
  type NotionPage,
  type NotionProperty,
  readRichText,
} from './api-schemas.ts';
import { titleOf } from './page-markdown.ts';
import { plainText, richTextMarkdown } from './rich-text.ts';

/**
 * A data source as a table of its rows, or with only its properties where `rows` is undefined.
 * People, files and what Notion computes are left out: they change by themselves or name persons.
 */
export function dataSourceMarkdown(
  source: NotionDataSource,
  rows: readonly NotionPage[] | undefined,
): string {
  const columns = Object.entries(source.properties).filter(([, { type }]) => cellTexts.has(type));
  const sorted = columns.toSorted(
    ([a, one], [b, other]) =>
      Number(other.type === 'title') - Number(one.type === 'title') || (a < b ? -1 : 1),
  );
  const description = markdownLines(richTextMarkdown(source.description));
  const table = markdownTable(
    sorted.map(([name]) => name),
    sortRows(rows ?? []).map(({ properties }) =>
      sorted.map(([name]) => cellText(properties[name])),
    ),
  );
  const lines = [
    ...(rows === undefined ? propertyLines(source) : []),
    markdownHeading(1, plainText(source.title) || 'Untitled'),
    ...(description.length === 0 ? [] : ['', ...description]),
    ...(table.length === 0 ? [] : ['', ...table]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The names and types of the properties, where no reader takes them for text. */
function propertyLines({ properties }: NotionDataSource): readonly string[] {
  const lines = Object.entries(properties).map(
    ([name, { type }]) => `  - ${canonicalJson({ name, type })}`,
  );
  return ['---', 'properties:', ...lines.sort(), '---', ''];
}

function sortRows(rows: readonly NotionPage[]): readonly NotionPage[] {
  const named = rows.map((row) => ({ row, title: titleOf(row.properties) }));
  return named
    .toSorted((a, b) =>
      a.title < b.title || (a.title === b.title && a.row.id < b.row.id) ? -1 : 1,
    )
    .map(({ row }) => row);
}

const nameOf = (value: unknown): string =>
  isRecord(value) && typeof value['name'] === 'string' ? value['name'] : '';

const cellTexts: ReadonlyMap<string, (value: unknown) => string> = new Map(
  Object.entries({
    title: (value: unknown) => richTextMarkdown(readRichText(value)),
    rich_text: (value: unknown) => richTextMarkdown(readRichText(value)),
    number: (value: unknown) => (typeof value === 'number' ? String(value) : ''),
    select: nameOf,
    status: nameOf,
    multi_select: (value: unknown) =>
      Array.isArray(value) ? value.map(nameOf).sort().join(', ') : '',
    checkbox: (value: unknown) => (value === true ? 'yes' : 'no'),
    url: (value: unknown) => (typeof value === 'string' ? value : ''),
    date: (value: unknown) =>
      isRecord(value)
        ? [value['start'], value['end']].filter((part) => typeof part === 'string').join(' to ')
        : '',
  }),
);

function cellText(property: NotionProperty | undefined): string {
  return property === undefined
    ? ''
    : (cellTexts.get(property.type)?.(property[property.type]) ?? '');
}
