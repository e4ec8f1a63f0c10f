import { UserError } from '../../lib/error.ts';
import { apiLimits } from '../http/config.ts';
import { openHttp, refusedStatus } from '../http/client.ts';
import { knownEntries } from '../http/known-entries.ts';
import { readPages } from '../http/read-pages.ts';
import type { FetchContext } from '../source.ts';
import {
  blockSchema,
  blocksSchema,
  botSchema,
  databaseSchema,
  dataSourceSchema,
  type NotionBlock,
  type NotionPage,
  pageSchema,
  rowsSchema,
  searchSchema,
} from './api-schemas.ts';
import type { NotionConfig } from './config.ts';
import type { BlockTree } from './page-markdown.ts';

const apiVersion = '2026-03-11';
const pageSize = 100;
/** Of one page. Beyond, the page is too large to be documentation. */
const mostBlocks = 20_000;
const deepestBlock = 100;

export type NotionClient = ReturnType<typeof openNotion>;

/**
 * The calls of the Notion API that ktx makes. All of them read. What is in no known form is told in
 * `gaps`.
 */
export function openNotion(context: FetchContext<NotionConfig>, gaps: string[]) {
  const { config, secrets } = context;
  const http = openHttp({
    ...context,
    ...apiLimits(config),
    baseUrl: config.base_url ?? 'https://api.notion.com',
    headers: {
      authorization: `Bearer ${secrets(config.token)}`,
      'notion-version': apiVersion,
    },
  });
  const blocks = (id: string) =>
    readPages(async (cursor: string | undefined) => {
      const query = [
        ['page_size', String(pageSize)],
        ...(cursor === undefined ? [] : [['start_cursor', cursor]]),
      ] as [string, string][];
      const page = await http.read({ path: `v1/blocks/${id}/children`, query }, blocksSchema);
      return { entries: page.results, next: page.next_cursor ?? undefined };
    });
  const readTree = async (id: string, depth: number, left: { count: number }) => {
    const trees: BlockTree[] = [];
    for await (const block of blocks(id)) {
      left.count -= 1;
      if (left.count < 0 || depth > deepestBlock) throw tooLargePage(context.connection, id);
      const isOpen = block.has_children && !ownPages.has(block.type);
      const children = isOpen ? await readTree(block.id, depth + 1, left) : [];
      trees.push({ block, children });
    }
    return trees;
  };
  return {
    bot: () => http.read({ path: 'v1/users/me' }, botSchema),
    page: (id: string) => http.read({ path: `v1/pages/${id}` }, pageSchema),
    dataSource: (id: string) => http.read({ path: `v1/data_sources/${id}` }, dataSourceSchema),
    database: (id: string) => http.read({ path: `v1/databases/${id}` }, databaseSchema),
    block: (id: string) => http.read({ path: `v1/blocks/${id}` }, blockSchema),
    /** Everything that the integration sees, as far as the search of Notion knows it. */
    search: () =>
      readPages(async (cursor: string | undefined) => {
        const json = { page_size: pageSize, start_cursor: cursor };
        const page = await http.read({ path: 'v1/search', json }, searchSchema);
        const entries = knownEntries(page.results, { what: 'the search of Notion', gaps });
        return { entries, next: page.next_cursor ?? undefined };
      }),
    rows: (id: string): AsyncGenerator<NotionPage> =>
      readPages(async (cursor: string | undefined) => {
        const json = { page_size: pageSize, start_cursor: cursor };
        const page = await http.read({ path: `v1/data_sources/${id}/query`, json }, rowsSchema);
        const entries = knownEntries(page.results, { what: `the database ${id}`, gaps });
        return { entries, next: page.next_cursor ?? undefined };
      }),
    /** All blocks of a page; those of the pages and databases inside of it are theirs. */
    blocks: (id: string): Promise<readonly BlockTree[]> => readTree(id, 0, { count: mostBlocks }),
  };
}

/** Blocks that stand for a page or a database of its own. */
export const ownPages: ReadonlySet<NotionBlock['type']> = new Set(['child_page', 'child_database']);

function tooLargePage(connection: string, id: string): UserError {
  const message = `${connection}: page ${id} has more than ${mostBlocks} blocks, or ${deepestBlock} levels of them.`;
  return new UserError('bad_answer', message, { hint: 'Split the page.' });
}

/** True for an object that is not there, or not shared with the integration. */
export function isNotShared(error: unknown): boolean {
  const status = refusedStatus(error);
  return status === 404 || status === 403;
}

export const sharingHint =
  'share it with the integration in Notion: the menu ••• of the page, then Connections';
