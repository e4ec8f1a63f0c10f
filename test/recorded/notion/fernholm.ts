/** What the Notion of the sample company has, in a short form that the server writes out. */

export interface NotionWorldPage {
  readonly id: string;
  readonly title: string;
  readonly parent: { readonly type: string } & Readonly<Record<string, string | boolean>>;
  readonly edited: string;
  readonly blocks: readonly NotionWorldBlock[];
  readonly inTrash?: boolean;
  /** Values of the properties of a row, beside its title. */
  readonly properties?: Readonly<Record<string, object>>;
  /** True for a page that the search does not find yet. */
  readonly isFresh?: boolean;
}

export interface NotionWorldBlock {
  readonly type: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly children?: readonly NotionWorldBlock[];
  /** Of a page or a database that is a block as well. */
  readonly id?: string;
}

export interface NotionWorldDatabase {
  readonly id: string;
  readonly source: string;
  readonly title: string;
  readonly parent: string;
  readonly properties: Readonly<Record<string, { readonly type: string }>>;
}

/** An id of 32 digits from a short number. */
export const pageId = (number: number) => `393abc1eedcd81c38d54${String(number).padStart(12, '0')}`;

export const text = (content: string, code = false) => ({
  type: 'text',
  text: { content, link: null },
  annotations: { bold: false, italic: false, code, color: 'default' },
  plain_text: content,
  href: null,
});

const block = (
  type: string,
  content: string,
  children?: readonly NotionWorldBlock[],
): NotionWorldBlock => ({
  type,
  content: { rich_text: [text(content)], color: 'default' },
  ...(children && { children }),
});

const row = (...cells: readonly string[]): NotionWorldBlock => ({
  type: 'table_row',
  content: { cells: cells.map((cell) => [text(cell)]) },
});

const edited = '2026-07-04T09:08:00.000Z';
const wiki = { type: 'workspace', workspace: true } as const;
const below = (id: string) => ({ type: 'page_id', page_id: id });

const definitions: NotionWorldPage = {
  id: pageId(1),
  title: 'How we count',
  parent: wiki,
  edited,
  blocks: [
    block('heading_1', 'Revenue'),
    {
      type: 'paragraph',
      content: {
        rich_text: [
          text('Net revenue is the sum of '),
          text('orders.amount', true),
          text(' of paid orders, without orders that were cancelled. Ask '),
          { type: 'mention', mention: { type: 'user', user: { id: 'u' } }, plain_text: '@Ada' },
        ],
      },
    },
    block('toggle', 'Details about returns', [
      block('bulleted_list_item', 'A return lowers the revenue of the day it arrives.', [
        block('bulleted_list_item', 'Not of the day of the order.'),
      ]),
    ]),
    {
      type: 'table',
      content: { table_width: 2, has_column_header: true, has_row_header: false },
      children: [
        row('Term', 'Definition'),
        row('Churned customer', 'A customer without an order for 90 days.'),
      ],
    },
    {
      type: 'image',
      content: {
        type: 'file',
        file: { url: 'https://files.example/a.png?X-Amz-Signature=1', expiry_time: edited },
        caption: [text('The funnel of orders')],
      },
    },
    { type: 'ai_block', content: { prompt: 'whatever' } },
    { type: 'child_page', content: { title: 'Fresh page' }, id: pageId(3) },
    { type: 'child_page', content: { title: 'Regions' }, id: pageId(2) },
  ],
};

export const pages: readonly NotionWorldPage[] = [
  definitions,
  {
    id: pageId(2),
    title: 'Regions',
    parent: below(pageId(1)),
    edited,
    blocks: [block('paragraph', 'The region DCH stands for Germany, Austria and Switzerland.')],
  },
  {
    id: pageId(3),
    title: 'Fresh page',
    parent: below(pageId(1)),
    edited,
    blocks: [block('paragraph', 'A page that the search of Notion does not know yet today.')],
    isFresh: true,
  },
  {
    id: pageId(4),
    title: 'Lunch menu',
    parent: wiki,
    edited,
    blocks: [block('paragraph', 'Soup on Monday, noodles on Tuesday, and so on.')],
  },
  ...[
    ['Average order value', 'What an order is worth on average.', 'avg(orders.amount)', 'Approved'],
    ['Gross sales', 'No longer used.', 'sum(orders.amount)', 'Deprecated'],
  ].map(([title = '', definition = '', formula = '', status = ''], index) => ({
    id: pageId(10 + index),
    title,
    parent: {
      type: 'data_source_id',
      data_source_id: pageId(101),
      database_id: pageId(100),
    },
    edited,
    blocks: [],
    properties: {
      Definition: { type: 'rich_text', rich_text: [text(definition)] },
      Formula: { type: 'rich_text', rich_text: [text(formula)] },
      Status: { type: 'status', status: { name: status } },
      Owner: { type: 'people', people: [{ object: 'user', id: 'u', name: 'Ada Lovelace' }] },
      Views: { type: 'formula', formula: { type: 'number', number: 7 } },
    },
  })),
];

export const databases: readonly NotionWorldDatabase[] = [
  {
    id: pageId(100),
    source: pageId(101),
    title: 'Metrics',
    parent: pageId(1),
    properties: {
      Name: { type: 'title' },
      Definition: { type: 'rich_text' },
      Formula: { type: 'rich_text' },
      Status: { type: 'status' },
      Owner: { type: 'people' },
      Views: { type: 'formula' },
    },
  },
];

/** A page for tests of many. */
export function numberedPage(number: number): NotionWorldPage {
  return {
    id: pageId(1_000_000 + number),
    title: `Page ${number}`,
    parent: below(pageId(1)),
    edited,
    blocks: [block('paragraph', `What page ${number} says, in a few words of its own.`)],
  };
}
