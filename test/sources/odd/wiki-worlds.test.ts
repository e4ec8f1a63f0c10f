import { describe, expect, test } from 'vitest';
import type { FarEnd } from '../../contract/api-sources.ts';
import { pageId, text } from '../../recorded/notion/fernholm.ts';
import { readFarEnd, type ReadResult } from './read-far-end.ts';

const answer =
  (match: RegExp, json: unknown, times = 1) =>
  (far: FarEnd) =>
    far.faults.push({ match, times, body: JSON.stringify(json) });

interface Oddity {
  readonly change: (far: FarEnd) => void;
  /** What has to be read all the same. */
  readonly keys: readonly string[];
  readonly told?: RegExp;
  readonly isComplete: boolean;
  readonly check?: (read: ReadResult) => void;
  /** Keys that the project has already. */
  readonly known?: readonly string[];
}

const key = (number: number) => `pages/${pageId(number)}.md`;
const blocksOf = (number: number) => new RegExp(`blocks/${pageId(number)}/children`);
const blocks = (...results: readonly object[]) => ({
  results: results.map((block, index) => ({
    id: pageId(7000 + index),
    has_children: false,
    ...block,
  })),
  next_cursor: null,
});
const paragraph = (content: string) => ({
  type: 'paragraph',
  paragraph: { rich_text: [text(content)] },
});
const page = (number: number, more: object) => ({
  object: 'page',
  id: pageId(number),
  last_edited_time: '2026-07-04T09:08:00.000Z',
  parent: { type: 'workspace', workspace: true },
  properties: { title: { type: 'title', title: [text(`Page ${number}`)] } },
  ...more,
});
const bodyOf = ({ bodies }: ReadResult, number: number) => bodies.get(key(number)) ?? '';

const notion: Readonly<Record<string, Oddity>> = {
  'a block of a type of next year, with what it holds': {
    change: (far) => {
      const inside = blocks(paragraph('Inside of the new block.'));
      answer(
        blocksOf(2),
        blocks({ id: pageId(8000), type: 'quantum_list', quantum_list: null, has_children: true }),
      )(far);
      answer(blocksOf(8000), inside)(far);
    },
    keys: [key(2)],
    told: /Notion block of the type quantum_list/,
    isComplete: true,
    check: (read) => expect(bodyOf(read, 2)).toContain('Inside of the new block.'),
  },
  'blocks whose lists are null': {
    change: answer(
      blocksOf(2),
      blocks(
        { type: 'paragraph', paragraph: { rich_text: null } },
        { type: 'table', table: null },
        { type: 'code', code: { rich_text: null, language: null } },
        paragraph('What is said.'),
      ),
    ),
    keys: [key(2)],
    isComplete: true,
    check: (read) => expect(bodyOf(read, 2)).toContain('What is said.'),
  },
  'a block without an id': {
    change: answer(blocksOf(2), { results: [{ type: 'paragraph' }], next_cursor: null }),
    keys: [key(1), key(4)],
    told: new RegExp(`${pageId(2)}.*ktx expects`),
    isComplete: true,
  },
  'a page that the search finds twice': {
    change: answer(/v1\/search/, {
      results: [page(2, {}), page(2, {}), page(4, {})],
      next_cursor: null,
    }),
    keys: [key(2), key(4)],
    isComplete: true,
  },
  'a search with objects of another kind': {
    change: answer(/v1\/search/, {
      results: [{ object: 'agent', id: pageId(5) }, page(2, {}), null, page(4, { id: 7 })],
      next_cursor: null,
    }),
    keys: [key(2)],
    told: /the search of Notion has 3 objects in a form that ktx does not know/,
    isComplete: false,
  },
  'a cursor that loops': {
    change: answer(/v1\/search/, { results: [page(2, {})], next_cursor: 'again' }, 50),
    keys: [key(2)],
    told: /A listing does not end/,
    isComplete: false,
  },
  'blocks whose cursor loops': {
    change: answer(
      blocksOf(2),
      { ...blocks(paragraph('The same again and again.')), next_cursor: 'again' },
      50,
    ),
    keys: [key(1)],
    told: new RegExp(`${pageId(2)}.*A listing does not end`),
    isComplete: true,
  },
  'a page that contains itself': {
    change: answer(
      blocksOf(2),
      blocks(paragraph('Around.'), { id: pageId(2), type: 'child_page', has_children: true }),
    ),
    keys: [key(2)],
    isComplete: true,
    check: ({ keys }) => expect(keys.filter((own) => own === key(2))).toHaveLength(1),
  },
  'a block that contains itself': {
    change: (far) => {
      const own = blocks({
        id: pageId(8000),
        type: 'synced_block',
        synced_block: {},
        has_children: true,
      });
      answer(blocksOf(2), own)(far);
      answer(blocksOf(8000), own, 500)(far);
    },
    keys: [key(1)],
    told: /has more than 20000 blocks, or 100 levels/,
    isComplete: true,
  },
  'a database with properties of next year': {
    change: answer(/v1\/search/, {
      results: [
        {
          object: 'data_source',
          id: pageId(101),
          title: [text('Metrics')],
          parent: { type: 'database_id', database_id: pageId(100) },
          properties: {
            Name: { type: 'title' },
            Mood: { type: 'mood' },
            Definition: { type: 'rich_text' },
          },
        },
      ],
      next_cursor: null,
    }),
    keys: [`databases/${pageId(101)}.md`],
    isComplete: true,
  },
  'a row in no known form': {
    change: answer(/data_sources\/\w+\/query/, {
      results: [page(10, { parent: { type: 'data_source_id', data_source_id: pageId(101) } }), 7],
      next_cursor: null,
    }),
    keys: [`databases/${pageId(101)}.md`],
    told: /the database \w+ has 1 object/,
    isComplete: false,
  },
  'a title in many scripts': {
    change: answer(/v1\/search/, {
      results: [
        page(2, {
          properties: { Ñame: { type: 'title', title: [text('売上 🙂 \u202eevil\u0000 ‘x’')] } },
        }),
      ],
      next_cursor: null,
    }),
    keys: [key(2)],
    isComplete: true,
    check: (read) => expect(bodyOf(read, 2)).toContain('売上 🙂'),
  },
  'a page of an earlier run that is gone, and one that is refused': {
    change: (far) => {
      far.faults.push({ match: new RegExp(`pages/${pageId(900)}`), times: 1, status: 404 });
      far.faults.push({ match: new RegExp(`pages/${pageId(901)}`), times: 1, status: 500 });
    },
    known: [key(900), key(901)],
    keys: [key(1)],
    told: /was answered with 500/,
    isComplete: false,
  },
};

const storage = (body: string, more: object = {}) => ({
  id: '12',
  title: 'Regions',
  version: { number: 1 },
  body: { storage: { value: body } },
  ...more,
});
const pageTwelve = /(?:pages|content)\/12\?/;
const twelve = (read: ReadResult) => read.bodies.get('pages/12.md') ?? '';
/** In both kinds of Confluence, unless the name says which. */
const confluence: Readonly<Record<string, Oddity>> = {
  'a macro that nobody knows': {
    change: answer(
      pageTwelve,
      storage(
        '<ac:structured-macro ac:name="ai-summary-2027"><ac:parameter ac:name="k">v</ac:parameter><ac:rich-text-body><p>Kept text.</p></ac:rich-text-body></ac:structured-macro>',
      ),
    ),
    keys: ['pages/12.md'],
    told: /Confluence macro ai-summary-2027/,
    isComplete: true,
    check: (read) => expect(twelve(read)).toContain('Kept text.'),
  },
  'elements that nobody knows and tags without an end': {
    change: answer(
      pageTwelve,
      storage('<x-new:thing><p>One <b>two<p>three &nbsp;&unknown; &#x1F600;</x-new:thing>'),
    ),
    keys: ['pages/12.md'],
    isComplete: true,
    check: (read) => expect(twelve(read)).toMatch(/One[^]*two[^]*three/),
  },
  'a page in another format': {
    change: answer(pageTwelve, { ...storage(''), body: { atlas_doc_format: { value: '{}' } } }),
    keys: ['pages/11.md'],
    told: /pages\/12\.md: .*body\.storage/,
    isComplete: true,
  },
  'an empty page': {
    change: answer(pageTwelve, storage('')),
    keys: ['pages/11.md'],
    isComplete: true,
  },
  'ids as numbers, and links that are null': {
    change: answer(pageTwelve, { ...storage('<p>Numbers are ids.</p>'), id: 12, _links: null }),
    keys: ['pages/12.md'],
    isComplete: true,
    check: (read) => expect(twelve(read)).toContain('Numbers are ids.'),
  },
  'a title in many scripts': {
    change: answer(pageTwelve, storage('<p>Ж</p>', { title: '../売上 🙂 | # \u202e' })),
    keys: ['pages/12.md'],
    isComplete: true,
    check: (read) => expect(twelve(read)).toContain('売上 🙂'),
  },
  'a space in no known form': {
    change: answer(/(?:spaces|api\/space)\?/, {
      results: [{ id: 'x' }, { id: '1001', key: 'FIN', name: 'Finance', type: 'global' }],
      _links: {},
    }),
    keys: ['pages/11.md', 'pages/12.md'],
    told: /has 1 object in a form that ktx does not know/,
    isComplete: false,
  },
};

const cloudOnly: Readonly<Record<string, Oddity>> = {
  'labels on two pages': {
    change: (far) => {
      answer(/pages\/12\/labels/, {
        results: [{ name: 'b' }],
        _links: { next: '/wiki/api/v2/pages/12/labels?cursor=two' },
      })(far);
      answer(/pages\/12\/labels.*cursor=two/, { results: [{ name: 'a' }], _links: {} })(far);
      answer(/content\/search/, { results: [], _links: {} }, 5)(far);
    },
    keys: ['pages/12.md'],
    isComplete: true,
    check: (read) => expect(twelve(read)).toMatch(/labels: \["a", ?"b"\]/),
  },
  'a cursor that loops': {
    change: answer(
      /spaces\/1001\/pages/,
      {
        results: [{ id: '11', title: 'Definitions', version: { number: 3 } }],
        _links: { next: '/wiki/api/v2/spaces/1001/pages?cursor=again' },
      },
      50,
    ),
    keys: ['pages/11.md'],
    told: /A listing does not end/,
    isComplete: false,
  },
  'pages that lie below each other': {
    change: answer(/spaces\/1001\/pages/, {
      results: [
        { id: '11', title: 'A', version: { number: 3 }, parentId: '12', parentType: 'page' },
        { id: '12', title: 'B', version: { number: 1 }, parentId: '11', parentType: 'page' },
        { id: '12', title: 'B', version: { number: 1 }, parentId: '11', parentType: 'page' },
      ],
      _links: {},
    }),
    keys: ['pages/11.md', 'pages/12.md'],
    isComplete: true,
  },
  'restrictions that nobody can tell': {
    change: (far) => {
      answer(/content\/search/, { results: [], _links: {} }, 5)(far);
      answer(/content\/12\/restriction/, { restrictions: null })(far);
    },
    keys: ['pages/11.md'],
    told: /pages\/12\.md/,
    isComplete: true,
    check: ({ keys }) => expect(keys).not.toContain('pages/12.md'),
  },
};

const worlds = {
  notion,
  'confluence in the cloud': { ...confluence, ...cloudOnly },
  'confluence data center': confluence,
};

describe.each(Object.entries(worlds))('%s', (name, oddities: Readonly<Record<string, Oddity>>) => {
  test.each(Object.entries(oddities))('%s', async (_, { change, keys, told, known, ...want }) => {
    const read = await readFarEnd(name, change, known);
    expect(read.error).toBeUndefined();
    expect(read.keys, read.told).toEqual(expect.arrayContaining([...keys]));
    expect(new Set(read.keys).size).toBe(read.keys.length);
    if (told !== undefined) expect(read.told).toMatch(told);
    expect(read.isComplete, read.told).toBe(want.isComplete);
    want.check?.(read);
  });
});
